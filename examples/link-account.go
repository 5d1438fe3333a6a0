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
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"
)

const tries = 4

var (
	url               = "http://127.0.0.1:3000"
	applicationSecret = os.Getenv("LATCHKEY_APPLICATION_SECRET")
	client            = &http.Client{Timeout: 10 * time.Second}
)

type account struct {
	Username    string `json:"username"`
	DisplayName string `json:"display_name"`
	Verified    bool   `json:"verified"`
}

type grant struct {
	ID      string  `json:"grant_id"`
	Secret  string  `json:"grant_secret"`
	Scope   string  `json:"scope"`
	Account account `json:"account"`
}

// latchkeyError is an answer other than 200. Code is stable, and the one to branch on.
type latchkeyError struct {
	Code        string `json:"error_code"`
	Description string `json:"error_description"`
	GrantID     string `json:"grant_id"`
	retryAfter  time.Duration
}

func (e *latchkeyError) Error() string { return e.Code + ": " + e.Description }

// code is the error_code of an error, or "" if there was no answer.
func code(err error) string {
	var refused *latchkeyError
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}

type object map[string]string

func send(method, path, secret string, body object, result any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequest(method, url+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+secret)
	request.Header.Set("Content-Type", "application/json")
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusOK {
		return json.NewDecoder(answer.Body).Decode(result)
	}
	seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
	refused := &latchkeyError{retryAfter: time.Duration(seconds) * time.Second}
	if err := json.NewDecoder(answer.Body).Decode(refused); err != nil {
		return err
	}
	return refused
}

// call sends a request until there is an answer. Every call may be repeated: see link.
func call(method, path, secret string, body object, result any) error {
	for try := 1; ; try++ {
		err := send(method, path, secret, body, result)
		wait := time.Second
		var refused *latchkeyError
		if errors.As(err, &refused) {
			// 429 and 503: nothing was done, and Retry-After says when to try again.
			if refused.Code != "rate_limited" && refused.Code != "store_unavailable" {
				return err
			}
			wait = refused.retryAfter
		}
		if err == nil || try == tries {
			return err
		}
		time.Sleep(wait)
	}
}

// link exchanges a code for a grant, whatever happens on the way.
func link(userCode string) (linked grant, err error) {
	for {
		err = call("POST", "/oauth/convert", applicationSecret, object{"code": userCode}, &linked)
		var lost *latchkeyError
		if !errors.As(err, &lost) || lost.Code != "code_already_used" && lost.Code != "outcome_unknown" {
			return linked, err
		}
		// The code became a grant (or may have), and the answer with its secret got lost: get a new
		// secret. An application that has stored a grant with this id just goes on with that.
		id := object{"grant_id": lost.GrantID}
		err = call("POST", "/oauth/recover", applicationSecret, id, &linked)
		if lost.Code != "outcome_unknown" || code(err) != "grant_not_found" {
			return linked, err
		}
		// It did not become one: the code is as good as before.
		time.Sleep(lost.retryAfter)
	}
}

func run() error {
	// Keep the grant's id and secret in your own database, the secret encrypted.
	linked, err := link(os.Getenv("LATCHKEY_CODE"))
	if err != nil {
		return err
	}
	fmt.Printf("Linked %s for %s\n", linked.Account.Username, linked.Scope)

	// A 401 here says that the grant was revoked: forget it, and offer the user to link again.
	var now account
	if err := call("GET", "/v1/account", linked.Secret, nil, &now); err != nil {
		return err
	}
	verified := ""
	if now.Verified {
		verified = ", verified"
	}
	fmt.Printf("The account is %s%s\n", now.DisplayName, verified)

	id := object{"grant_id": linked.ID}
	if err := call("POST", "/oauth/revoke", applicationSecret, id, &linked); err != nil {
		return err
	}
	fmt.Println("Unlinked")
	return nil
}

func main() {
	if given := os.Getenv("LATCHKEY_URL"); given != "" {
		url = given
	}
	err := run()
	switch code(err) {
	case "code_expired", "code_not_found", "grant_not_found", "grant_not_recoverable":
		err = fmt.Errorf("%s: let the user start again", code(err))
	case "credentials_missing", "credentials_invalid":
		err = fmt.Errorf("%s: check LATCHKEY_APPLICATION_SECRET", code(err))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
