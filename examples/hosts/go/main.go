// The service that has the accounts, with net/http alone. Its /link tells Latchkey who is signed in.
//
//	PORT=4001 go run .
//
// Reads LATCHKEY_URL (where it calls Latchkey), LATCHKEY_ADMIN_SECRET (a key with the role "host") and
// HOST_URL, its own address for browsers: SIGN_IN_URL is HOST_URL/link. It has one user, and asks her for no password.
package main

import (
	"crypto/rand"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
)

const form = `<!doctype html><title>Sign in</title><form method="post">
<button>Sign in</button> <button name="cancel" value="true">Cancel</button></form>`

var (
	secure   = strings.HasPrefix(os.Getenv("HOST_URL"), "https:")
	name     = map[bool]string{false: "session", true: "__Host-session"}[secure]
	ada      = object{"account_id": "0193aa00-0000-7000-8000-0000000000a1", "username": "ada"}
	sessions sync.Map // The account by cookie. Keep yours in your database, and let them end.
)

func handOff(w http.ResponseWriter, r *http.Request) {
	link := r.FormValue("link")
	var account object
	if cookie, err := r.Cookie(name); err == nil {
		found, _ := sessions.Load(cookie.Value)
		account, _ = found.(object)
	}
	if account == nil || r.FormValue("prompt") == "select_account" {
		io.WriteString(w, form)
	} else if link == "" {
		io.WriteString(w, "You are signed in.")
	} else {
		id := account["account_id"].(string) // Pages and applications show the names beside it.
		if _, err := call(r, "PUT", "/accounts/"+id, account); err != nil {
			fail(w, err)
			return
		}
		lead(w, r, "identify", object{"link": link, "account_id": id})
	}
}

func signIn(w http.ResponseWriter, r *http.Request) {
	link := r.FormValue("link")
	if r.PostFormValue("cancel") != "" {
		lead(w, r, "deny", object{"link": link})
		return
	}
	// Your service checks the password here. The session is new, whatever the browser had before.
	id := rand.Text()
	sessions.Store(id, ada)
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: id, Path: "/", Secure: secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
	http.Redirect(w, r, "/link?link="+url.QueryEscape(link), http.StatusSeeOther)
}

func main() {
	http.HandleFunc("GET /link", handOff)
	http.HandleFunc("POST /link", signIn)
	// A form of another site could sign its own user in, and link the account of that one.
	own := http.NewCrossOriginProtection().Handler(http.DefaultServeMux)
	log.Println("The host: " + os.Getenv("HOST_URL"))
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "no-store")
			// Without form-action, which browsers apply to the redirect after a form too.
			w.Header().Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; frame-ancestors 'none'")
			own.ServeHTTP(w, r)
		})))
}
