package console

import (
	"io"
	"net/http"

	"github.com/gorilla/websocket"
)

// Upgrade makes a web socket of a connection and serves it until one side ends it.
func Upgrade(w http.ResponseWriter, r *http.Request, serve func(io.ReadWriter) error) {
	up := websocket.Upgrader{
		Subprotocols: websocket.Subprotocols(r), // Proxmox VE answers with the one that was asked for
		CheckOrigin:  func(*http.Request) bool { return true },
	}
	conn, err := up.Upgrade(w, r, nil)
	if err != nil {
		return // the client was told
	}
	defer func() { _ = conn.Close() }()
	_ = serve(&stream{conn: conn}) // it ends when the client goes away
}

// stream is a web socket as a stream of bytes: each write is a binary message.
type stream struct {
	conn    *websocket.Conn
	message io.Reader
}

func (s *stream) Read(b []byte) (int, error) {
	for {
		if s.message == nil {
			_, m, err := s.conn.NextReader()
			if err != nil {
				return 0, err
			}
			s.message = m
		}
		n, err := s.message.Read(b)
		if err == io.EOF { //nolint:errorlint // io.Reader returns it as it is
			s.message, err = nil, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

func (s *stream) Write(b []byte) (int, error) {
	return len(b), s.conn.WriteMessage(websocket.BinaryMessage, b)
}
