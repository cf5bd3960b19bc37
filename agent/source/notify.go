package source

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"

	"golang.org/x/time/rate"
)

// SignatureHeader carries "sha256=" and the HMAC-SHA256 of the body in hexadecimal.
const SignatureHeader = "X-Kubehenge-Signature"

// hubHeader is the same from GitHub, Gitea and Forgejo, so that their webhooks work as they are.
// https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
const hubHeader = "X-Hub-Signature-256"

const (
	maxNotify    = 1 << 20 // bytes; forges send the commits along
	notifyRate   = 20      // a second, with a burst of as many
	leastSecret  = 16      // bytes
	signaturePre = "sha256="
)

// NotifyHandler makes the endpoint that calls notify for each rightly signed POST. What the body says is not believed and not read: the fetch
// that follows sees for itself. secret is read for each request; one under 16 bytes closes the endpoint.
func NotifyHandler(secret func() ([]byte, error), notify func()) http.Handler {
	limit := rate.NewLimiter(notifyRate, notifyRate)
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			http.Error(w, "only POST", http.StatusMethodNotAllowed)
			return
		}
		if !limit.Allow() {
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many requests", http.StatusTooManyRequests)
			return
		}
		code := receive(w, req, secret)
		if code == http.StatusAccepted {
			notify()
		}
		w.WriteHeader(code)
	})
}

// receive checks one request and gives its answer's status.
func receive(w http.ResponseWriter, req *http.Request, secret func() ([]byte, error)) int {
	key, err := secret()
	if err != nil || len(bytes.TrimSpace(key)) < leastSecret {
		return http.StatusServiceUnavailable
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxNotify))
	if err != nil {
		return http.StatusRequestEntityTooLarge
	}
	given := req.Header.Get(SignatureHeader)
	if given == "" {
		given = req.Header.Get(hubHeader)
	}
	if !hmac.Equal([]byte(given), []byte(notifySignature(key, body))) {
		return http.StatusForbidden
	}
	return http.StatusAccepted
}

// notifySignature is the header's value. White space around the secret, as a file's last newline, does not count.
func notifySignature(secret, body []byte) string {
	mac := hmac.New(sha256.New, bytes.TrimSpace(secret))
	mac.Write(body)
	return signaturePre + hex.EncodeToString(mac.Sum(nil))
}

// SendNotify nudges an agent's endpoint.
func SendNotify(ctx context.Context, client *http.Client, url string, secret []byte) error {
	body := []byte("{}")
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("notify the agent: %w", err)
	}
	req.Header.Set(SignatureHeader, notifySignature(secret, body))
	res, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("notify the agent: %w", err)
	}
	defer func() { _ = res.Body.Close() }() // nothing in it is read
	if res.StatusCode != http.StatusAccepted {
		return fmt.Errorf("notify the agent: it answers %s", res.Status)
	}
	return nil
}
