package build

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
)

// errNoCheckout tells what is missing when kubehenge is run on its own.
var errNoCheckout = errors.New("the lab builds its programs from a checkout of kubehenge: run it inside one, or name a folder" +
	" of prebuilt ones (kubehenge lab build --output DIR) with --bin-dir")

// Checkout returns the folder of kubehenge's sources that dir is in.
func Checkout(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for {
		data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(data, []byte("module kubehenge.dev\n")) {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errNoCheckout
		}
		dir = parent
	}
}

// CacheDir is where results are kept unless told otherwise: kubehenge/lab in the user's cache folder.
func CacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "kubehenge", "lab"), nil
}
