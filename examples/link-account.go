// Links an account, uses it, and unlinks it, with Go's standard library.
//
//	go run examples/link-account.go
//
// Reads LATCHKEY_URL, LATCHKEY_APPLICATION_SECRET and LATCHKEY_CODE from the environment;
// `npm run -s latchkey -- demo` prints a secret and a code to try it with.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"
)

var (
	url               = os.Getenv("LATCHKEY_URL")
	applicationSecret = os.Getenv("LATCHKEY_APPLICATION_SECRET")
	client            = &http.Client{Timeout: 10 * time.Second}
)

// answer is a grant, an account or an error; members that it does not have are empty.
type answer struct {
	GrantID     string `json:"grant_id"`
	GrantSecret string `json:"grant_secret"`
	Scope       string
	Account     struct{ Username string }
	DisplayName string `json:"display_name"`
	ErrorCode   string `json:"error_code"` // Stable, and the one to branch on.
	Description string `json:"error_description"`
	retryAfter  time.Duration
}

type object map[string]string

// send makes one request. An answer with another status than 200 is an error too.
func send(method, path, secret string, body object) (got answer, err error) {
	got.retryAfter = time.Second
	text, _ := json.Marshal(body)
	request, err := http.NewRequest(method, url+path, bytes.NewReader(text))
	if err != nil {
		return got, err
	}
	request.Header.Set("Authorization", "Bearer "+secret)
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return got, err
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&got); err != nil || response.StatusCode == 200 {
		return got, err
	}
	if wait, err := time.ParseDuration(response.Header.Get("Retry-After") + "s"); err == nil {
		got.retryAfter = wait
	}
	return got, fmt.Errorf("%s (%s): %s", got.ErrorCode, response.Status, got.Description)
}

// After these: there was no answer, nothing was done, or nobody knows whether it was.
var again = map[string]bool{
	"": true, "rate_limited": true, "store_unavailable": true, "outcome_unknown": true,
}

// call tries up to four times. Every call may be repeated: no code is exchanged twice.
func call(method, path, secret string, body object) (answer, error) {
	for try := 1; ; try++ {
		got, err := send(method, path, secret, body)
		if err == nil || !again[got.ErrorCode] || try == 4 {
			return got, err
		}
		time.Sleep(got.retryAfter)
	}
}

// link exchanges a code for a grant.
func link(code string) (answer, error) {
	got, err := call("POST", "/oauth/convert", applicationSecret, object{"code": code})
	if got.ErrorCode != "code_already_used" {
		return got, err
	}
	// The code became a grant, and the answer with its secret got lost, since nobody else exchanges
	// it here: get a new secret. An application looks first whether it has stored this grant.
	return call("POST", "/oauth/recover", applicationSecret, object{"grant_id": got.GrantID})
}

// check ends the program where there was an error, and says what to do about it.
func check(got answer, err error) answer {
	switch got.ErrorCode {
	case "code_expired", "code_not_found", "grant_not_found", "grant_not_recoverable":
		log.Fatal(got.ErrorCode + ": let the user start again")
	case "credentials_missing", "credentials_invalid":
		log.Fatal(got.ErrorCode + ": check LATCHKEY_APPLICATION_SECRET")
	}
	if err != nil {
		log.Fatal(err)
	}
	return got
}

func main() {
	log.SetFlags(0)
	if url == "" {
		url = "http://127.0.0.1:3000"
	}

	// Keep the grant's id and secret in your own database, the secret encrypted.
	grant := check(link(os.Getenv("LATCHKEY_CODE")))
	fmt.Printf("Linked %s for %s\n", grant.Account.Username, grant.Scope)

	// A 401 here says that the grant was revoked: forget it, and offer the user to link again.
	account := check(call("GET", "/v1/account", grant.GrantSecret, nil))
	fmt.Printf("The account is %s\n", account.DisplayName)

	check(call("POST", "/oauth/revoke", applicationSecret, object{"grant_id": grant.GrantID}))
	fmt.Println("Unlinked")
}
