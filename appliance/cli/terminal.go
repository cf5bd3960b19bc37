package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/term"
)

// asker asks a person for something; what is secret is not shown while they type.
type asker func(ctx context.Context, prompt string, secret bool) (string, error)

var errInterrupted = errors.New("interrupted")

// askAtTerminal asks at the terminal that the program was started from, whatever its input and output are. An interruption leaves the terminal as it was.
func askAtTerminal(ctx context.Context, prompt string, secret bool) (string, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return "", errors.New("there is no terminal to ask at; the flags that --help names do without one")
	}
	before, err := term.GetState(int(tty.Fd()))
	if err != nil {
		return "", fmt.Errorf("ask at the terminal: %w", errors.Join(err, tty.Close()))
	}
	fmt.Fprint(tty, prompt)
	type reply struct {
		text string
		err  error
	}
	replies := make(chan reply, 1)
	go func() {
		text, err := read(tty, secret)
		replies <- reply{text, err}
	}()
	select {
	case <-ctx.Done(): // the read goes on until the program ends, which is now
		return "", errors.Join(errInterrupted, term.Restore(int(tty.Fd()), before))
	case r := <-replies:
		if secret {
			fmt.Fprintln(tty)
		}
		if err := errors.Join(r.err, tty.Close()); err != nil {
			return "", fmt.Errorf("ask at the terminal: %w", err)
		}
		return r.text, nil
	}
}

// read reads one line, without its end.
func read(tty *os.File, secret bool) (string, error) {
	if secret {
		text, err := term.ReadPassword(int(tty.Fd()))
		return string(text), err
	}
	var line []byte
	for one := make([]byte, 1); ; {
		if _, err := tty.Read(one); err != nil {
			return "", err
		}
		if one[0] == '\n' || one[0] == '\r' {
			return string(line), nil
		}
		line = append(line, one[0])
	}
}
