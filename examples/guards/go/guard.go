package main

import (
	"cmp"
	"fmt"
	"log"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

var bearer = regexp.MustCompile(`(?i)^bearer +(lk_grant_[0-9a-z]{71}) *$`)

// guard calls a handler with the live grants of this resource that have all of the scopes.
func guard(handler func(http.ResponseWriter, *http.Request, grant), required ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		header, sent := r.Header["Authorization"]
		if !sent {
			refuse(w, http.StatusUnauthorized, "", required)
			return
		}
		var said grant
		if token := bearer.FindStringSubmatch(header[0]); token != nil {
			var retryAfter string
			var err error
			said, retryAfter, err = introspect(r, token[1])
			// Not 401: the caller would delete a grant that works again later.
			if err != nil {
				log.Print("Latchkey: ", err)
				w.Header().Set("Retry-After", cmp.Or(retryAfter, "5"))
				http.Error(w, "The grant could not be checked.", http.StatusServiceUnavailable)
				return
			}
		}
		if !said.Active || said.Audience != resource {
			refuse(w, http.StatusUnauthorized, "invalid_token", required)
			return
		}
		// All of them: clients ask for exactly what is named here, and go on with the new grant.
		wanted := strings.Split(said.Scope, " ")
		held := len(wanted)
		for _, scope := range required {
			if !slices.Contains(wanted, scope) {
				wanted = append(wanted, scope)
			}
		}
		if len(wanted) > held {
			refuse(w, http.StatusForbidden, "insufficient_scope", wanted)
			return
		}
		handler(w, r, said)
	}
}

func refuse(w http.ResponseWriter, status int, code string, scopes []string) {
	challenge := `Bearer realm="latchkey"`
	if code != "" {
		challenge += fmt.Sprintf(`, error="%s"`, code)
	}
	challenge += fmt.Sprintf(`, scope="%s", resource_metadata="%s"`, strings.Join(scopes, " "), metadataURL)
	w.Header().Set("WWW-Authenticate", challenge)
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, cmp.Or(code, `Send "Authorization: Bearer <grant secret>".`), status)
}
