// An OAuth server by fosite on PostgreSQL. Everybody who opens the authorization endpoint is ada.
package main

import (
	"context"
	"crypto/rand"
	"log"
	"net/http"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/ory/fosite"
	"github.com/ory/fosite/compose"
	"github.com/ory/fosite/storage"
	"golang.org/x/crypto/bcrypt"
)

func main() {
	clients := storage.NewMemoryStore()
	for _, id := range []string{"application", "other"} {
		// The default cost takes long for each request.
		cost := bcrypt.MinCost
		if os.Getenv("SLOW_HASH") != "" {
			cost = fosite.DefaultBCryptWorkFactor
		}
		secret, err := bcrypt.GenerateFromPassword([]byte(os.Getenv("SECRET_OF_"+id)), cost)
		if err != nil {
			log.Fatal(err)
		}
		clients.Clients[id] = &fosite.DefaultClient{
			ID:            id,
			Secret:        secret,
			RedirectURIs:  []string{os.Getenv("REDIRECT_URI")},
			ResponseTypes: []string{"code"},
			GrantTypes:    []string{"authorization_code"},
			Scopes:        []string{"read"},
		}
	}
	// It reads the host, the user and the rest from the environment.
	pool, err := pgxpool.New(context.Background(), "")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := pool.Exec(context.Background(), schema); err != nil {
		log.Fatal(err)
	}
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		log.Fatal(err)
	}
	config := &fosite.Config{GlobalSecret: key, EnforcePKCE: true}
	oauth := compose.Compose(
		config,
		&Store{ClientManager: clients, pool: pool},
		compose.CommonStrategy{CoreStrategy: compose.NewOAuth2HMACStrategy(config)},
		compose.OAuth2AuthorizeExplicitFactory,
		compose.OAuth2PKCEFactory,
		compose.OAuth2TokenIntrospectionFactory,
	)

	http.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		request, err := oauth.NewAuthorizeRequest(r.Context(), r)
		if err != nil {
			oauth.WriteAuthorizeError(r.Context(), w, request, err)
			return
		}
		for _, scope := range request.GetRequestedScopes() {
			request.GrantScope(scope)
		}
		session := &fosite.DefaultSession{Username: "ada"}
		response, err := oauth.NewAuthorizeResponse(r.Context(), request, session)
		if err != nil {
			oauth.WriteAuthorizeError(r.Context(), w, request, err)
			return
		}
		oauth.WriteAuthorizeResponse(r.Context(), w, request, response)
	})
	http.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		request, err := oauth.NewAccessRequest(r.Context(), r, &fosite.DefaultSession{})
		if err != nil {
			oauth.WriteAccessError(r.Context(), w, request, err)
			return
		}
		response, err := oauth.NewAccessResponse(r.Context(), request)
		if err != nil {
			oauth.WriteAccessError(r.Context(), w, request, err)
			return
		}
		oauth.WriteAccessResponse(r.Context(), w, request, response)
	})
	http.HandleFunc("GET /account", func(w http.ResponseWriter, r *http.Request) {
		token := fosite.AccessTokenFromRequest(r)
		session := &fosite.DefaultSession{}
		if _, _, err := oauth.IntrospectToken(r.Context(), token, fosite.AccessToken, session); err != nil {
			http.Error(w, "unauthorized", http.StatusUnauthorized)
		}
	})
	log.Fatal(http.ListenAndServe(os.Getenv("LISTEN"), nil))
}
