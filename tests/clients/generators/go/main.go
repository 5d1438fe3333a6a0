// Uses the client that oapi-codegen made: links an account, reads it, and unlinks it. Prints the results.
package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func bearer(secret string) RequestEditorFn {
	return func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+secret)
		return nil
	}
}

func main() {
	ctx := context.Background()
	client := must(NewClientWithResponses(os.Getenv("LATCHKEY_URL")))
	application := bearer(os.Getenv("LATCHKEY_APPLICATION_SECRET"))
	body := GrantsConvertJSONRequestBody{Code: os.Getenv("LATCHKEY_CODE")}

	grant := must(client.GrantsConvertWithResponse(ctx, body, application)).JSON200
	account := must(client.AccountGetWithResponse(ctx, bearer(grant.GrantSecret))).JSON200
	again := must(client.GrantsConvertWithResponse(ctx, body, application)).JSON400

	var revocation GrantsRevokeBody
	revocation.FromGrantsRevokeBody0(GrantsRevokeBody0{GrantId: grant.GrantId})
	revoked := must(client.GrantsRevokeWithResponse(ctx, nil, revocation, application))
	after := must(client.AccountGetWithResponse(ctx, bearer(grant.GrantSecret)))

	form := GrantsRevokeFormdataRequestBody{Token: grant.GrantSecret}
	withForm := must(client.GrantsRevokeWithFormdataBodyWithResponse(ctx, nil, form, application))

	json.NewEncoder(os.Stdout).Encode([]any{
		account.Username, again.ErrorCode,
		revoked.StatusCode(), after.StatusCode(), withForm.StatusCode(),
	})
}
