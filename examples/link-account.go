// Links an account, uses it, and unlinks it, with Go's standard library.
//
//	go run examples/link-account.go
//
// Reads LATCHKEY_URL, LATCHKEY_APPLICATION_SECRET and LATCHKEY_CODE from the environment;
// `bin/latchkey demo` prints a secret and a code to try it with.
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

// reply is a grant, an account or an error. Members that it does not have are empty.
type reply struct {
	GrantID     string `json:"grant_id"`
	GrantSecret string `json:"grant_secret"`
	Scope       string
	Account     struct{ Username string }
	DisplayName string `json:"display_name"`
	ErrorCode   string `json:"error_code"` // Branch on it: it is stable.
	Description string `json:"error_description"`
	retryAfter  time.Duration
}

type object map[string]string

// send makes one request. A response with a status other than 200 is an error too.
func send(method, path, secret string, body object) (got reply, err error) {
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

// again has the errors to retry after: no response, nothing was done, or the outcome is unknown.
var again = map[string]bool{
	"": true, "rate_limited": true, "store_unavailable": true, "outcome_unknown": true,
}

// call tries up to four times. Every call may be repeated: no code is converted twice.
func call(method, path, secret string, body object) (reply, error) {
	for try := 1; ; try++ {
		got, err := send(method, path, secret, body)
		if err == nil || !again[got.ErrorCode] || try == 4 {
			return got, err
		}
		time.Sleep(got.retryAfter)
	}
}

// link converts a code into a grant.
func link(code string) (reply, error) {
	got, err := call("POST", "/oauth/convert", applicationSecret, object{"code": code})
	if got.ErrorCode != "code_already_used" {
		return got, err
	}
	// Only this program converts the code, so the response with the secret was lost: get a new
	// secret. An application first checks whether it has stored this grant.
	return call("POST", "/oauth/recover", applicationSecret, object{"grant_id": got.GrantID})
}

// check exits if there was an error, and says what to do about it.
func check(got reply, err error) reply {
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

	// Store the grant's id and secret in your own database. Encrypt the secret.
	grant := check(link(os.Getenv("LATCHKEY_CODE")))
	fmt.Printf("Linked %s for %s\n", grant.Account.Username, grant.Scope)

	// A 401 here means that the grant was revoked: delete it and let the user link again.
	account := check(call("GET", "/v1/account", grant.GrantSecret, nil))
	fmt.Printf("The account is %s\n", account.DisplayName)

	check(call("POST", "/oauth/revoke", applicationSecret, object{"grant_id": grant.GrantID}))
	fmt.Println("Unlinked")
}
