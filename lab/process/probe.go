package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// Probe returns nil when what it asks is ready, and else why not. It must return soon.
type Probe func(ctx context.Context) error

// probeTimeout is how long one try of HTTP or Dial may take.
const probeTimeout = 5 * time.Second

// HTTP is ready when a GET of url answers 200.
func HTTP(client *http.Client, url string) Probe {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, probeTimeout)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		_, _ = io.Copy(io.Discard, response.Body)
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("GET %s: %s", url, response.Status)
		}
		return nil
	}
}

// Dial is ready when something accepts connections, such as a unix socket.
func Dial(network, address string) Probe {
	return func(ctx context.Context) error {
		dialer := net.Dialer{Timeout: probeTimeout}
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return err
		}
		return conn.Close()
	}
}

// All is ready when all probes are.
func All(probes ...Probe) Probe {
	return func(ctx context.Context) error {
		for _, probe := range probes {
			if err := probe(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}

// Wait asks probe every interval until it is ready. The error says what it was waiting for and the probe's last answer.
func Wait(ctx context.Context, what string, interval time.Duration, probe Probe) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		last := probe(ctx)
		if last == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, whyEnded(ctx, last))
		case <-ticker.C:
		}
	}
}

// whyEnded is the cause that ended ctx, if it was given one, and else that with the probe's last answer.
func whyEnded(ctx context.Context, last error) error {
	if cause := context.Cause(ctx); cause != ctx.Err() {
		return cause
	}
	return errors.Join(ctx.Err(), last)
}
