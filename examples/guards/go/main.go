// An API for the grants of one resource, with net/http alone. It asks Latchkey about each request.
//
//	PORT=4002 go run .
//
// Reads LATCHKEY_URL (where it calls Latchkey), PUBLIC_URL (that of Latchkey, if it is another one),
// RESOURCE (its own address as "resource list" prints it; PUBLIC_URL/v1 if it is not registered), and
// CLIENT_ID and CLIENT_SECRET of an application with the setting "resource_server".
package main

import (
	"cmp"
	"encoding/json"
	"log"
	"net/http"
	"net/url"
	"os"
	"regexp"
)

var (
	latchkey    = os.Getenv("LATCHKEY_URL")
	publicURL   = cmp.Or(os.Getenv("PUBLIC_URL"), latchkey)
	resource    = cmp.Or(os.Getenv("RESOURCE"), publicURL+"/v1")
	metadataURL = regexp.MustCompile(`^\w+://[^/]+`).
			ReplaceAllString(resource, "$0/.well-known/oauth-protected-resource")
)

func send(w http.ResponseWriter, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(body)
}

// metadata tells clients without a grant where to get one (RFC 9728).
func metadata(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	send(w, map[string]any{
		"resource":                 resource,
		"authorization_servers":    []string{publicURL},
		"scopes_supported":         []string{"notes.read", "notes.write"},
		"bearer_methods_supported": []string{"header"},
	})
}

func notes(w http.ResponseWriter, _ *http.Request, of grant) {
	send(w, map[string]any{"owner": of.Subject, "notes": []string{"Buy milk."}})
}

func main() {
	address, err := url.Parse(metadataURL)
	if err != nil || address.Host == "" {
		log.Fatal("RESOURCE has to be the address that is registered for this server.")
	}
	http.HandleFunc("GET "+address.Path, metadata)
	http.HandleFunc("GET /notes", guard(notes, "notes.read"))
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
