package console

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ErrRefused is a client that does not show the ticket it was given.
var ErrRefused = errors.New("authentication failed")

// Terminal serves a terminal: the client first shows user and ticket, then sends what is typed, the size of its window and
// signs of life. Each line that is typed is repeated behind the prompt.
func Terminal(rw io.ReadWriter, prompt string, known func(user, ticket string) bool) error {
	r := bufio.NewReader(rw)
	line, err := r.ReadString('\n')
	if err != nil {
		return err
	}
	user, ticket, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
	if !known(user, ticket) {
		return ErrRefused
	}
	for _, text := range []string{"OK", prompt} {
		if _, err := io.WriteString(rw, text); err != nil {
			return err
		}
	}
	for {
		typed, err := message(r)
		if err != nil {
			return err
		}
		if typed == "" {
			continue
		}
		if _, err := io.WriteString(rw, echo(typed, prompt)); err != nil {
			return err
		}
	}
}

// message reads one message: 0:LENGTH:TEXT is typed, 1:COLUMNS:ROWS: a size, 2 a sign of life.
func message(r *bufio.Reader) (typed string, err error) {
	kind, err := r.ReadByte()
	if err != nil {
		return "", err
	}
	switch kind {
	case '0':
		return input(r)
	case '1':
		for range 3 { // behind the kind, the columns and the rows
			if _, err := r.ReadString(':'); err != nil {
				return "", err
			}
		}
		return "", nil
	case '2':
		return "", nil
	}
	return "", fmt.Errorf("unknown kind of message %q", kind)
}

// longest is the longest input that a client may send at once.
const longest = 128 << 10

func input(r *bufio.Reader) (string, error) {
	if _, err := r.ReadString(':'); err != nil {
		return "", err
	}
	digits, err := r.ReadString(':')
	if err != nil {
		return "", err
	}
	n, err := strconv.Atoi(strings.TrimSuffix(digits, ":"))
	if err != nil || n < 0 || n > longest {
		return "", fmt.Errorf("length of input %q", digits)
	}
	b := make([]byte, n)
	_, err = io.ReadFull(r, b)
	return string(b), err
}

// echo is what a terminal shows of what is typed: behind each line stands a new prompt.
func echo(typed, prompt string) string {
	next := "\r\n" + prompt
	return strings.NewReplacer("\r\n", next, "\r", next, "\n", next).Replace(typed)
}
