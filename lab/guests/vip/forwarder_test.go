package vip_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"testing"
	"time"

	"kubehenge.dev/lab/guests/vip"
)

const endpoint = "127.78.60.10:6443"

// greet is a server that says its name to everyone and then waits.
func greet(t *testing.T, address string) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				io.WriteString(c, address+"\n")
				io.Copy(io.Discard, c)
				c.Close()
			}()
		}
	}()
}

// ask connects to the endpoint and returns who answers.
func ask(t *testing.T) (string, net.Conn) {
	t.Helper()
	c, err := net.Dial("tcp", endpoint)
	if err != nil {
		return "", nil
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(10 * time.Second))
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return line[:len(line)-1], c
}

func TestTheEndpointFollowsItsMachine(t *testing.T) {
	ctx := context.Background()
	const a, b = "127.78.60.1:6443", "127.78.60.2:6443"
	greet(t, a)
	greet(t, b)
	f := vip.New(endpoint)
	t.Cleanup(f.Close)
	if who, _ := ask(t); who != "" {
		t.Errorf("%s answers before anybody has the endpoint", who)
	}
	if err := f.Point(ctx, a); err != nil {
		t.Fatal(err)
	}
	who, conn := ask(t)
	if who != a {
		t.Errorf("%s answers, not %s", who, a)
	}
	if err := f.Point(ctx, b); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("a connection to the former machine lives on")
	}
	if who, _ := ask(t); who != b {
		t.Errorf("%s answers, not %s", who, b)
	}
	f.Close()
	if who, _ := ask(t); who != "" {
		t.Errorf("%s answers after the end", who)
	}
}

func TestAnEndpointThatIsTakenIsAnError(t *testing.T) {
	greet(t, endpoint)
	f := vip.New(endpoint)
	if err := f.Point(context.Background(), "127.78.60.1:6443"); err == nil {
		t.Error("no error")
	}
	if f.Target() != "" {
		t.Errorf("it goes to %s all the same", f.Target())
	}
}
