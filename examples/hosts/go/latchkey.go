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

type object map[string]any

// A refusal has the status of a response of Latchkey, and its error_code.
type refusal struct {
	status int
	code   any
}

func (r refusal) Error() string { return fmt.Sprintf("%d %v", r.status, r.code) }

var client = &http.Client{
	Timeout: 10 * time.Second,
	// No other address gets the key.
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// call sends a request of the operator, and returns what Latchkey says.
func call(r *http.Request, method, path string, body object) (object, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	address := os.Getenv("LATCHKEY_URL") + "/admin" + path
	request, err := http.NewRequestWithContext(r.Context(), method, address, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("LATCHKEY_ADMIN_SECRET"))
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var said object
	if err := json.NewDecoder(response.Body).Decode(&said); err != nil {
		return nil, err
	}
	// If a link has expired, it says where the application learns of it.
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusGone {
		return nil, refusal{response.StatusCode, said["error_code"]}
	}
	return said, nil
}

// lead sends the browser where Latchkey says, or says why it can't go on.
func lead(w http.ResponseWriter, r *http.Request, operation string, link object) {
	said, err := call(r, "POST", "/links/"+operation, link)
	if err != nil {
		fail(w, err)
		return
	}
	address, _ := said["redirect_to"].(string)
	http.Redirect(w, r, address, http.StatusSeeOther)
}

func fail(w http.ResponseWriter, err error) {
	log.Print("Latchkey: ", err)
	switch refused, _ := err.(refusal); refused.status {
	case http.StatusBadRequest, http.StatusNotFound:
		http.Error(w, "This link does not work any more. Start again in the application that you came from.", refused.status)
	case http.StatusConflict:
		http.Error(w, "You have already answered this request. You can close this page.", refused.status)
	default:
		http.Error(w, "Try again in a minute.", http.StatusServiceUnavailable)
	}
}
