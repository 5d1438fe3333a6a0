module example.com/latchkey-host

go 1.26.0
