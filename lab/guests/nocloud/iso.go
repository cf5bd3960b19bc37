// Package nocloud answers what a virtual machine learns at its boot from the medium in its CD drive: the three files of
// cloud-init's NoCloud data source, and what they ask for.
//
// Upstream: https://cloudinit.readthedocs.io/en/latest/reference/datasources/nocloud.html
package nocloud

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/kdomanski/iso9660"
)

// label is the volume label that cloud-init looks for, in lower or upper case.
const label = "cidata"

// maxFile bounds one file of the medium and whatever is unpacked from it, in bytes.
const maxFile = 16 << 20

// Media holds the files of a NoCloud medium as they were read.
type Media struct {
	UserData      []byte
	MetaData      []byte
	NetworkConfig []byte // nil when the medium has none
}

// Errors of ReadISO. A machine that meets any of them finds no data source and stays without configuration.
var (
	ErrNoMedium  = errors.New("no medium in the CD drive")
	ErrNotCidata = errors.New("volume label is not cidata")
)

// ReadISO reads an ISO 9660 image. user-data and meta-data must be there; network-config may be missing.
func ReadISO(image []byte) (media *Media, err error) {
	if len(image) == 0 {
		return nil, ErrNoMedium
	}
	// The reader indexes into what it has read without checking it.
	defer func() {
		if r := recover(); r != nil {
			media, err = nil, fmt.Errorf("read ISO image: malformed: %v", r)
		}
	}()
	root, err := openRoot(image)
	if err != nil {
		return nil, fmt.Errorf("read ISO image: %w", err)
	}
	files, err := readFiles(root)
	if err != nil {
		return nil, fmt.Errorf("read ISO image: %w", err)
	}
	return newMedia(files)
}

func openRoot(image []byte) (*iso9660.File, error) {
	img, err := iso9660.OpenImage(bytes.NewReader(image))
	if err != nil {
		return nil, err
	}
	name, err := img.Label()
	if err != nil {
		return nil, err
	}
	if !strings.EqualFold(strings.TrimRight(name, " \x00"), label) {
		return nil, fmt.Errorf("%w: %q", ErrNotCidata, strings.TrimSpace(name))
	}
	return img.RootDir()
}

func readFiles(root *iso9660.File) (map[string][]byte, error) {
	children, err := root.GetChildren()
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, f := range children {
		if f.IsDir() {
			continue
		}
		content, err := readLimited(f.Reader())
		if err != nil {
			return nil, fmt.Errorf("file %s: %w", f.Name(), err)
		}
		files[plainName(f.Name())] = content
	}
	return files, nil
}

// names are the files of a NoCloud medium.
var names = []string{"user-data", "meta-data", "network-config"}

// shortName is how long a name is on media that keep to ISO 9660's first level.
const shortName = 8

// plainName undoes what stands in for a file's name where its Rock Ridge name is missing or, as with media written by
// go-diskfs, cannot be read: upper case, "_" for "-", and eight characters at most.
func plainName(name string) string {
	plain := strings.ReplaceAll(strings.ToLower(strings.TrimSuffix(name, ".")), "_", "-")
	for _, known := range names {
		if plain == known[:shortName] {
			return known
		}
	}
	return plain
}

func newMedia(files map[string][]byte) (*Media, error) {
	for _, name := range names[:2] {
		if _, ok := files[name]; !ok {
			return nil, fmt.Errorf("read ISO image: file %s is missing", name)
		}
	}
	user, err := gunzipIfPacked(files["user-data"])
	if err != nil {
		return nil, fmt.Errorf("unpack user-data: %w", err)
	}
	return &Media{UserData: user, MetaData: files["meta-data"], NetworkConfig: files["network-config"]}, nil
}

func gunzipIfPacked(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	return gunzip(data)
}

func gunzip(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return readLimited(r)
}

func readLimited(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("larger than %d bytes", maxFile)
	}
	return data, nil
}
