package appliance

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"kubehenge.dev/agent/source"
)

// nudger tells the agent that the branch has moved. The agent believes nothing of it and only fetches; a nudge that is lost is made up for by its poll.
type nudger struct {
	url, keyFile string
	client       *http.Client
	waiting      chan struct{} // holds one: nudges that come while one is sent are one
}

func newNudger(url, keyFile string) *nudger {
	return &nudger{url: url, keyFile: keyFile, client: &http.Client{Timeout: 10 * time.Second}, waiting: make(chan struct{}, 1)}
}

// nudgeAll nudges every agent; of several replicas only the one that leads fetches, and nobody here knows which.
func nudgeAll(urls []string, keyFile string) func() {
	var all []*nudger
	for _, url := range urls {
		all = append(all, newNudger(url, keyFile))
	}
	return func() {
		for _, n := range all {
			n.nudge()
		}
	}
}

// nudge returns at once.
func (n *nudger) nudge() {
	select {
	case n.waiting <- struct{}{}:
	default:
		return // one waits to be sent, and will tell of this commit too
	}
	go func() {
		<-n.waiting
		if err := n.send(context.Background()); err != nil {
			slog.Warn("agent not nudged; it looks by itself soon", "reason", err)
		}
	}()
}

func (n *nudger) send(ctx context.Context) error {
	secret, err := os.ReadFile(n.keyFile)
	if err != nil {
		return fmt.Errorf("read the nudges' key: %w", err)
	}
	body := []byte("{}")
	sum := hmac.New(sha256.New, bytes.TrimSpace(secret))
	sum.Write(body)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, n.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set(source.SignatureHeader, "sha256="+hex.EncodeToString(sum.Sum(nil)))
	resp, err := n.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // nothing in it counts
	if resp.StatusCode >= 300 {
		return fmt.Errorf("the agent answered %s", resp.Status)
	}
	return nil
}
