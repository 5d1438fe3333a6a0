package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// A grant as Latchkey describes it.
type grant struct {
	Active   bool   `json:"active"`
	Audience string `json:"aud"`
	Scope    string `json:"scope"`
	Subject  string `json:"sub"`
}

var client = &http.Client{
	Timeout: 5 * time.Second,
	// No other address gets the grant.
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// introspect asks Latchkey each time: what is cached would let in a grant that was revoked meanwhile.
func introspect(r *http.Request, token string) (said grant, retryAfter string, err error) {
	form := strings.NewReader(url.Values{"token": {token}}.Encode())
	request, err := http.NewRequestWithContext(r.Context(), "POST", latchkey+"/oauth/introspect", form)
	if err != nil {
		return said, "", err
	}
	request.SetBasicAuth(os.Getenv("CLIENT_ID"), os.Getenv("CLIENT_SECRET"))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := client.Do(request)
	if err != nil {
		return said, "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return said, response.Header.Get("Retry-After"), fmt.Errorf("status %s", response.Status)
	}
	err = json.NewDecoder(response.Body).Decode(&said)
	return said, "", err
}
