package bench

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"kubehenge.dev/appliance/client"
	"kubehenge.dev/appliance/signin"
)

// lists is how often the list of all clusters is asked for.
const lists = 100

// listTarget is how long the list may take; the page has its own time within it.
const listTarget = time.Second

// list asks for all clusters as a browser does, compressed.
func (o *office) list(ctx context.Context) error {
	seen, err := o.people[0].Clusters(ctx)
	if err != nil {
		return err
	}
	if len(seen.Clusters) < o.Claims {
		return fmt.Errorf("the list holds %d clusters, not %d", len(seen.Clusters), o.Claims)
	}
	ca, err := os.ReadFile(o.lab.GitCA())
	if err != nil {
		return fmt.Errorf("read the appliance's CA: %w", err)
	}
	browser := trusting(ca)
	var took []time.Duration
	size := 0
	for range lists {
		begun := time.Now()
		if size, err = fetchList(ctx, browser, o.people[0].Session()); err != nil {
			return err
		}
		took = append(took, time.Since(begun))
	}
	for _, rank := range []int{50, 99} {
		o.add(Figure{
			Name: fmt.Sprintf("list of %s clusters, p%d", thousands(len(seen.Clusters)), rank), Value: percentile(took, rank).Seconds(), Unit: Seconds, Target: listTarget.Seconds(),
			Note: fmt.Sprintf("GET /api/clusters over HTTPS, to the last byte, %d times; %d kB compressed; the page's own time comes on top", lists, size/1000),
		})
	}
	return nil
}

// fetchList reads the list to its end and returns its size as it came.
func fetchList(ctx context.Context, browser *http.Client, s client.Session) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/api/clusters", nil)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Accept-Encoding", "gzip")
	request.Header.Set("Cookie", signin.CookieName+"="+s.ID)
	response, err := browser.Do(request)
	if err != nil {
		return 0, fmt.Errorf("list the clusters: %w", err)
	}
	defer response.Body.Close()
	size, err := io.Copy(io.Discard, response.Body)
	if err == nil && (response.StatusCode != http.StatusOK || response.Header.Get("Content-Encoding") != "gzip") {
		err = fmt.Errorf("%s, %s compressed", response.Status, response.Header.Get("Content-Encoding"))
	}
	if err != nil {
		return 0, fmt.Errorf("list the clusters: %w", err)
	}
	return int(size), nil
}
