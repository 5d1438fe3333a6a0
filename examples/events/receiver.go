// Hears when links end, with Go's standard library.
//
//	go run examples/events/receiver.go
//
// Reads LATCHKEY_EVENTS_SECRET and PORT from the environment.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// isSigned tells whether Latchkey signed the message with the key, less than 5 minutes ago.
func isSigned(header http.Header, body, key []byte) bool {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, signature := range strings.Fields(header.Get("webhook-signature")) {
		if hmac.Equal([]byte(signature), []byte(expected)) {
			return true
		}
	}
	return false
}

func main() {
	secret, isSecret := strings.CutPrefix(os.Getenv("LATCHKEY_EVENTS_SECRET"), "whsec_")
	key, err := base64.StdEncoding.DecodeString(secret)
	if !isSecret || err != nil || len(key) < 24 {
		log.Fatal("LATCHKEY_EVENTS_SECRET is not whsec_…")
	}
	http.HandleFunc("POST /latchkey-events", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 65536))
		var event struct {
			Type string
			Data struct {
				GrantID string `json:"grant_id"`
			}
		}
		if err != nil || !isSigned(r.Header, body, key) || json.Unmarshal(body, &event) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if event.Type == "grant.revoked" {
			fmt.Println("ended:", event.Data.GrantID)
		}
		w.WriteHeader(http.StatusNoContent)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
