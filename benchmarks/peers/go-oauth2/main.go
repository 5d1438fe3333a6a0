// An OAuth server by go-oauth2, with the token store in a file that it ships. Everybody who opens the
// authorization endpoint is ada.
package main

import (
	"log"
	"net/http"
	"os"

	"github.com/go-oauth2/oauth2/v4"
	"github.com/go-oauth2/oauth2/v4/manage"
	"github.com/go-oauth2/oauth2/v4/models"
	"github.com/go-oauth2/oauth2/v4/server"
	"github.com/go-oauth2/oauth2/v4/store"
)

func main() {
	clients := store.NewClientStore()
	for _, id := range []string{"application", "other"} {
		secret := os.Getenv("SECRET_OF_" + id)
		client := &models.Client{ID: id, Secret: secret, Domain: os.Getenv("REDIRECT_URI")}
		if err := clients.Set(id, client); err != nil {
			log.Fatal(err)
		}
	}
	manager := manage.NewDefaultManager()
	manager.MustTokenStorage(store.NewFileTokenStore("tokens.db"))
	manager.MapClientStorage(clients)

	oauth := server.NewServer(&server.Config{
		TokenType:                   "Bearer",
		AllowedResponseTypes:        []oauth2.ResponseType{oauth2.Code},
		AllowedGrantTypes:           []oauth2.GrantType{oauth2.AuthorizationCode},
		AllowedCodeChallengeMethods: []oauth2.CodeChallengeMethod{oauth2.CodeChallengeS256},
		ForcePKCE:                   true,
	}, manager)
	oauth.SetUserAuthorizationHandler(func(http.ResponseWriter, *http.Request) (string, error) {
		return "ada", nil
	})

	http.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		if err := oauth.HandleAuthorizeRequest(w, r); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	})
	http.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		if err := oauth.HandleTokenRequest(w, r); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	http.HandleFunc("GET /account", func(w http.ResponseWriter, r *http.Request) {
		if _, err := oauth.ValidationBearerToken(r); err != nil {
			http.Error(w, "unauthorized", http.StatusUnauthorized)
		}
	})
	log.Fatal(http.ListenAndServe(os.Getenv("LISTEN"), nil))
}
