package console

import (
	"bytes"
	"crypto/des" //nolint:gosec // RFB's password is DES
	"crypto/rand"
	"encoding/binary"
	"io"
	"math/bits"
)

const (
	width, height = 720, 400
	vncPassword   = 2
)

// Screen serves a screen by RFB 3.8: the client answers a challenge with the password, and gets a picture that stays dark.
func Screen(rw io.ReadWriter, name, password string) error {
	for _, step := range []func() error{
		func() error { return version(rw) },
		func() error { return challenge(rw, password) },
		func() error { return describe(rw, name) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	for {
		if err := event(rw); err != nil {
			return err
		}
	}
}

func version(rw io.ReadWriter) error {
	if _, err := io.WriteString(rw, "RFB 003.008\n"); err != nil {
		return err
	}
	_, err := io.ReadFull(rw, make([]byte, 12))
	return err
}

// challenge offers one way to sign in, by password, and asks for it.
func challenge(rw io.ReadWriter, password string) error {
	if _, err := rw.Write([]byte{1, vncPassword}); err != nil {
		return err
	}
	if _, err := io.ReadFull(rw, make([]byte, 1)); err != nil {
		return err
	}
	asked := make([]byte, 16)
	_, _ = rand.Read(asked) // never fails
	if _, err := rw.Write(asked); err != nil {
		return err
	}
	answer := make([]byte, len(asked))
	if _, err := io.ReadFull(rw, answer); err != nil {
		return err
	}
	if !bytes.Equal(answer, Answer(asked, password)) {
		text := "Authentication failed"
		_, _ = rw.Write(append(binary.BigEndian.AppendUint32([]byte{0, 0, 0, 1}, uint32(len(text))), text...)) // it is over
		return ErrRefused
	}
	_, err := rw.Write([]byte{0, 0, 0, 0})
	return err
}

// Answer is what answers a challenge: DES with the first eight characters of the password, their bits turned round.
func Answer(asked []byte, password string) []byte {
	key := make([]byte, 8)
	for i := range min(len(password), len(key)) {
		key[i] = bits.Reverse8(password[i])
	}
	block, err := des.NewCipher(key) //nolint:gosec // as above
	if err != nil {
		return nil // does not happen with eight bytes
	}
	answer := make([]byte, len(asked))
	for i := 0; i+block.BlockSize() <= len(asked); i += block.BlockSize() {
		block.Encrypt(answer[i:], asked[i:])
	}
	return answer
}

// describe tells the picture's size, its format (32 bits a pixel) and the name of the machine.
func describe(rw io.ReadWriter, name string) error {
	if _, err := io.ReadFull(rw, make([]byte, 1)); err != nil {
		return err
	}
	b := binary.BigEndian.AppendUint16(nil, width)
	b = binary.BigEndian.AppendUint16(b, height)
	b = append(b, 32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(len(name)))
	_, err := rw.Write(append(b, name...))
	return err
}

// lengths of what clients send, behind the first byte, by kind: pixel format, update request, key, pointer.
var lengths = map[byte]int{0: 19, 3: 9, 4: 7, 5: 5}

// event reads one message of the client and answers a request for the whole picture.
func event(rw io.ReadWriter) error {
	kind := make([]byte, 1)
	if _, err := io.ReadFull(rw, kind); err != nil {
		return err
	}
	switch kind[0] {
	case 2: // encodings
		return skip(rw, 3, func(head []byte) int { return 4 * int(binary.BigEndian.Uint16(head[1:])) })
	case 6: // text that was cut
		return skip(rw, 7, func(head []byte) int { return int(binary.BigEndian.Uint32(head[3:])) })
	}
	n, known := lengths[kind[0]]
	if !known {
		return ErrRefused
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(rw, body); err != nil {
		return err
	}
	if kind[0] == 3 && body[0] == 0 {
		return dark(rw)
	}
	return nil
}

func skip(r io.Reader, head int, rest func([]byte) int) error {
	b := make([]byte, head)
	if _, err := io.ReadFull(r, b); err != nil {
		return err
	}
	_, err := io.CopyN(io.Discard, r, int64(rest(b)))
	return err
}

// dark sends one rectangle of the picture's size, all of it zero.
func dark(w io.Writer) error {
	b := []byte{0, 0, 0, 1, 0, 0, 0, 0}
	b = binary.BigEndian.AppendUint16(b, width)
	b = binary.BigEndian.AppendUint16(b, height)
	b = append(b, 0, 0, 0, 0)
	_, err := w.Write(append(b, make([]byte, width*height*4)...))
	return err
}
