// An application that links accounts with golang.org/x/oauth2.
//
//	go run .
//
// Reads LATCHKEY_URL, CLIENT_ID and CLIENT_SECRET from the environment, and the port from PORT, by
// default a free one. Register http://127.0.0.1/callback at Latchkey: it matches on any port.
package main

import (
	"crypto/rand"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync"

	"golang.org/x/oauth2"
)

var (
	latchkey = os.Getenv("LATCHKEY_URL")
	config   = &oauth2.Config{
		ClientID:     os.Getenv("CLIENT_ID"),
		ClientSecret: os.Getenv("CLIENT_SECRET"),
		Scopes:       []string{"profile.read"},
		Endpoint: oauth2.Endpoint{
			AuthURL:  latchkey + "/oauth/authorize",
			TokenURL: latchkey + "/oauth/token",
			// Without it, the library tries two ways to authenticate, and sends each failing request twice.
			AuthStyle: oauth2.AuthStyleInHeader,
		},
	}
	// By the cookie "user". Keep them in your database.
	tokens sync.Map
)

// keep sets a cookie. If the application has https, add Secure.
func keep(w http.ResponseWriter, name, value string) {
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

func kept(r *http.Request, name string) string {
	cookie, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	return cookie.Value
}

func connect(w http.ResponseWriter, r *http.Request) {
	state, verifier := rand.Text(), oauth2.GenerateVerifier()
	keep(w, "state", state)
	keep(w, "verifier", verifier)
	url := config.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier))
	http.Redirect(w, r, url, http.StatusSeeOther)
}

func callback(w http.ResponseWriter, r *http.Request) {
	// The library leaves these checks to the application.
	query, state := r.URL.Query(), kept(r, "state")
	if state == "" || query.Get("state") != state || query.Get("iss") != latchkey {
		http.Error(w, "Begin at /connect.", http.StatusBadRequest)
		return
	}
	if query.Has("error") {
		http.Error(w, "Not linked: "+query.Get("error_description"), http.StatusBadRequest)
		return
	}
	verifier := oauth2.VerifierOption(kept(r, "verifier"))
	token, err := config.Exchange(r.Context(), query.Get("code"), verifier)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	user := rand.Text()
	tokens.Store(user, token)
	keep(w, "user", user)
	http.Redirect(w, r, "/account", http.StatusSeeOther)
}

func account(w http.ResponseWriter, r *http.Request) {
	token, ok := tokens.Load(kept(r, "user"))
	if !ok {
		http.Error(w, "Begin at /connect.", http.StatusUnauthorized)
		return
	}
	response, err := config.Client(r.Context(), token.(*oauth2.Token)).Get(latchkey + "/v1/account")
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer response.Body.Close()
	// 401 after the link has ended.
	w.WriteHeader(response.StatusCode)
	io.Copy(w, response.Body)
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		log.Fatal(err)
	}
	application := "http://" + listener.Addr().String()
	config.RedirectURL = application + "/callback"
	http.HandleFunc("GET /connect", connect)
	http.HandleFunc("GET /callback", callback)
	http.HandleFunc("GET /account", account)
	fmt.Println("Open " + application + "/connect")
	log.Fatal(http.Serve(listener, nil))
}
