module example.com/latchkey-guard

go 1.26.0
