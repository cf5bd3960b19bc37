package source

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestOnlySignedNudgesCount(t *testing.T) {
	key := []byte("a secret of more than sixteen bytes\n")
	body := `{"ref":"refs/heads/main"}`
	right := notifySignature(key, []byte(body))
	cases := map[string]struct {
		method, header, signature, body string
		secret                          []byte
		err                             error
		want                            int
	}{
		"a right signature":          {signature: right, want: 202},
		"a forge's signature":        {header: "X-Hub-Signature-256", signature: right, want: 202},
		"a signature of other text":  {signature: notifySignature(key, []byte("x")), want: 403},
		"another key's signature":    {signature: notifySignature([]byte("another secret of many bytes"), []byte(body)), want: 403},
		"no signature":               {want: 403},
		"a signature without prefix": {signature: strings.TrimPrefix(right, "sha256="), want: 403},
		"GET":                        {method: http.MethodGet, signature: right, want: 405},
		"a large body":               {signature: right, body: strings.Repeat("x", maxNotify+1), want: 413},
		"no secret":                  {secret: []byte{}, signature: notifySignature(nil, []byte(body)), want: 503},
		"a short secret":             {secret: []byte("short"), signature: notifySignature([]byte("short"), []byte(body)), want: 503},
		"a secret of white space":    {secret: []byte(strings.Repeat(" ", 20)), signature: notifySignature(nil, []byte(body)), want: 503},
		"a secret that is not there": {err: errors.New("no file"), signature: right, want: 503},
	}
	for what, c := range cases {
		t.Run(what, func(t *testing.T) {
			nudges := 0
			secret := func() ([]byte, error) {
				if c.secret != nil {
					return c.secret, c.err
				}
				return key, c.err
			}
			if c.method == "" {
				c.method = http.MethodPost
			}
			if c.body == "" {
				c.body = body
			}
			if c.header == "" {
				c.header = SignatureHeader
			}
			req := httptest.NewRequest(c.method, "/notify", strings.NewReader(c.body))
			if c.signature != "" {
				req.Header.Set(c.header, c.signature)
			}
			w := httptest.NewRecorder()
			NotifyHandler(secret, func() { nudges++ }).ServeHTTP(w, req)
			if w.Code != c.want || (nudges == 1) != (c.want == 202) {
				t.Errorf("the answer is %d with %d nudges, want %d", w.Code, nudges, c.want)
			}
		})
	}
}

func TestAFloodOfNudgesIsHeldBack(t *testing.T) {
	h := NotifyHandler(func() ([]byte, error) { return nil, nil }, func() {})
	last := 0
	for range notifyRate * 3 {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/notify", strings.NewReader("x")))
		last = w.Code
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("the last answer is %d", last)
	}
}

func TestASentNudgeArrives(t *testing.T) {
	key := []byte("a secret of more than sixteen bytes")
	nudges := 0
	s := httptest.NewServer(NotifyHandler(func() ([]byte, error) { return key, nil }, func() { nudges++ }))
	t.Cleanup(s.Close)
	if err := SendNotify(t.Context(), s.Client(), s.URL, key); err != nil || nudges != 1 {
		t.Errorf("SendNotify says %v with %d nudges", err, nudges)
	}
	if err := SendNotify(t.Context(), s.Client(), s.URL, []byte("another")); err == nil || nudges != 1 {
		t.Errorf("with another key SendNotify says %v with %d nudges", err, nudges)
	}
}

// https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries#testing-the-webhook-payload-validation
func TestTheSignatureIsTheOneThatForgesMake(t *testing.T) {
	const want = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
	if got := notifySignature([]byte("It's a Secret to Everybody"), []byte("Hello, World!")); got != want {
		t.Errorf("the signature is %s", got)
	}
}
