package bench

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"kubehenge.dev/lab"
	"kubehenge.dev/render/sample"
)

// pushTarget is how long a push of one claim in a thousand may take.
const pushTarget = 2 * time.Second

// clone is a clone of the repository that people work on with the real git, one after another.
type clone struct {
	dir, url string
	env      []string
}

// askPass gives git the password from its environment, where no other user of the machine sees it.
const askPass = "#!/bin/sh\nprintf '%s\\n' \"$BENCH_PASSWORD\"\n"

// makeClone clones as the administrator, so that nothing is remembered of those who push.
func (o *office) makeClone(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "kubehenge-bench-")
	if err != nil {
		return fmt.Errorf("make a folder for the clone: %w", err)
	}
	o.onEnd(func() { os.RemoveAll(dir) })
	asks := filepath.Join(dir, "ask")
	if err := os.WriteFile(asks, []byte(askPass), 0o700); err != nil {
		return fmt.Errorf("prepare git: %w", err)
	}
	o.clone = &clone{dir: filepath.Join(dir, "fleet"), url: o.lab.RepositoryURL(), env: append(os.Environ(),
		"GIT_SSL_CAINFO="+o.lab.GitCA(), "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS="+asks, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME="+author.Name, "GIT_AUTHOR_EMAIL="+author.Email, "GIT_COMMITTER_NAME="+author.Name, "GIT_COMMITTER_EMAIL="+author.Email)}
	return o.clone.git(ctx, filepath.Dir(o.clone.dir), lab.Administrator, "clone", "--quiet", o.clone.urlOf(lab.Administrator), o.clone.dir)
}

// urlOf is the repository's address with somebody's name in it.
func (c *clone) urlOf(who lab.Account) string {
	u, err := url.Parse(c.url)
	if err != nil {
		return c.url // git tells what is wrong with it
	}
	u.User = url.User(who.User)
	return u.String()
}

func (c *clone) git(ctx context.Context, dir string, who lab.Account, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = dir, append(c.env, "BENCH_PASSWORD="+who.Password)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
	}
	return nil
}

// change commits a claim with more workers, and returns the commit.
func (c *clone) change(ctx context.Context, who lab.Account, i int) (string, error) {
	if err := os.WriteFile(filepath.Join(c.dir, sample.ClaimFile(i)), sample.Claim(i, sample.Workers+2), 0o644); err != nil {
		return "", fmt.Errorf("change a claim in the clone: %w", err)
	}
	if err := c.git(ctx, c.dir, who, "commit", "--quiet", "--all", "--message", "Ask for more workers"); err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, "git", "-C", c.dir, "rev-parse", "HEAD").Output()
	if err != nil {
		return "", fmt.Errorf("git rev-parse: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// pushAll has people push a change of one claim, each somebody of whom nothing is remembered, and once the agent is done
// with the one before.
func (o *office) pushAll(ctx context.Context) error {
	var took []time.Duration
	var commits []string
	err := spread(o.Claims, pushers, func(k, at int) error {
		sha, took1, err := o.pushAs(ctx, o.account(atOnce+k), at)
		took, commits = append(took, took1), append(commits, sha)
		return err
	})
	if err != nil {
		return err
	}
	log, err := os.ReadFile(filepath.Join(o.lab.DataDir(), "logs", lab.Appliance+".log"))
	if err != nil {
		return fmt.Errorf("read the appliance's log: %w", err)
	}
	checks, err := judged(string(log), commits)
	if err != nil {
		return err
	}
	o.addPushed(took, checks)
	return o.settled(ctx)
}

func (o *office) pushAs(ctx context.Context, who lab.Account, i int) (sha string, took time.Duration, err error) {
	if sha, err = o.clone.change(ctx, who, i); err != nil {
		return "", 0, err
	}
	if err := pause(ctx, between); err != nil {
		return "", 0, err
	}
	begun := time.Now()
	if err := o.clone.git(ctx, o.clone.dir, who, "push", "--quiet", o.clone.urlOf(who), "HEAD:main"); err != nil {
		return "", 0, err
	}
	took = time.Since(begun)
	waiting, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("nothing came in %s; the logs are in %s", patience, o.lab.DataDir()))
	defer cancel()
	_, err = o.arrivals.wait(waiting, sha, 1)
	return sha, took, err
}

func (o *office) addPushed(took, checks []time.Duration) {
	for _, p := range []struct {
		name string
		rank int
	}{{"p50", 50}, {"the slowest", 100}} {
		o.add(Figure{
			Name: fmt.Sprintf("git push of one claim in %s, %s", thousands(o.Claims), p.name), Value: percentile(took, p.rank).Seconds(), Unit: Seconds, Target: pushTarget.Seconds(),
			Note: fmt.Sprintf("%d pushes, each by somebody of whom nothing is remembered, all of git's program and TLS in it; the check alone, by the appliance's log, %s",
				len(took), showDuration(percentile(checks, p.rank))),
		})
	}
}

// judged is how long the appliance looked at pushes, in the order of their commits, as its log says.
func judged(log string, commits []string) ([]time.Duration, error) {
	times := map[string]time.Duration{}
	for line := range strings.Lines(log) {
		_, said, found := strings.Cut(line, ` INFO push judged `)
		if !found {
			continue
		}
		fields := map[string]string{}
		for _, field := range strings.Fields(said) {
			name, value, _ := strings.Cut(field, "=")
			fields[name] = value
		}
		took, err := time.ParseDuration(fields["took"])
		if err != nil {
			return nil, fmt.Errorf("read the appliance's log: %w", err)
		}
		times[fields["commit"]] = took
	}
	list := make([]time.Duration, 0, len(commits))
	for _, c := range commits {
		took, there := times[c]
		if !there {
			return nil, fmt.Errorf("the appliance's log does not say how long it looked at the push of %.12s", c)
		}
		list = append(list, took)
	}
	return list, nil
}
