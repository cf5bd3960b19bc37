package storage

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"hash"
	"path"
	"regexp"
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
)

// fileNames are the names that a kind of content may have.
var fileNames = map[string]*regexp.Regexp{
	"iso":    regexp.MustCompile(`(?i)\A[^/]+\.(iso|img)\z`),
	"vztmpl": regexp.MustCompile(`\A[^/]+\.tar(\.(gz|xz|zst|bz2))?\z`),
	"import": regexp.MustCompile(`\A[^/]+\.(ova|qcow2|raw|vmdk)\z`),
}

var unsafeInName = regexp.MustCompile(`[^a-zA-Z0-9_.-]`)

// normalName is a file name without folders and without characters that have no place in it.
func normalName(name string) string {
	return unsafeInName.ReplaceAllString(path.Base(strings.ReplaceAll(name, `\`, "/")), "_")
}

// fileTarget checks where an upload or a download goes and returns the ID of the volume.
func fileTarget(c *core.Call) (*core.Storage, string, error) {
	st, err := c.State.StorageOn(c.Node(), c.Text("storage"))
	if err != nil {
		return nil, "", err
	}
	content, name := c.Text("content"), normalName(c.Text("filename"))
	if !st.Files() {
		return nil, "", core.Fail("can't upload to storage type '%s'", st.Kind)
	}
	if !fileNames[content].MatchString(name) {
		if content == "import" {
			return nil, "", core.Invalid("filename", "invalid filename or wrong extension")
		}
		return nil, "", core.Invalid("filename", "wrong file extension")
	}
	if !st.Holds(content) {
		return nil, "", core.Fail("storage '%s' does not support '%s' content", st.Name, content)
	}
	return st, st.Name + ":" + content + "/" + name, nil
}

func uploadContent(c *core.Call) (any, error) {
	if err := c.State.Reach(c.Node()); err != nil && c.Node() != c.State.Local {
		return nil, core.Fail("can't activate storage '%s' on node '%s': command failed", c.Text("storage"), c.Node())
	}
	st, id, err := fileTarget(c)
	if err != nil {
		return nil, err
	}
	if c.File == nil {
		return nil, core.Fail("temporary file does not exist")
	}
	data, algorithm, want, content := c.File.Data, c.Text("checksum-algorithm"), c.Text("checksum"), c.Text("content")
	// An upload is not handed on to the node it names: the one that answers the API copies the file there.
	return c.Fork(c.State.Local, "imgcopy", "", func(t *core.Task) error {
		if err := t.Busy(); err != nil {
			return err
		}
		if err := verifyChecksum(data, algorithm, want); err != nil {
			return err
		}
		if !c.State.Fits(st, t.Node, int64(len(data))) {
			return core.Fail("import failed: cp: error writing '%s': No space left on device", st.PathOf(strings.TrimPrefix(id, st.Name+":")))
		}
		putFile(c.State, st, t.Node, id, content, data)
		t.Say("finished file import successfully")
		return nil
	}), nil
}

// putFile stores a file, in the place of one that has its name.
func putFile(s *core.State, st *core.Storage, node, id, content string, data []byte) {
	_, name := core.SplitVolume(id)
	p, err := st.ParseVolume(name)
	if err != nil {
		return // the name was checked before
	}
	s.PutVolume(&core.Volume{ID: id, Storage: st.Name, Node: node, Content: content, Format: p.Format, Size: int64(len(data)), Data: data})
}

var hashes = map[string]func() hash.Hash{"md5": md5.New, "sha1": sha1.New, "sha224": sha256.New224, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New}

func verifyChecksum(data []byte, algorithm, want string) error {
	if algorithm == "" {
		return nil
	}
	h := hashes[algorithm]()
	h.Write(data)
	if got := hex.EncodeToString(h.Sum(nil)); !strings.EqualFold(got, want) {
		return core.Fail("checksum mismatch: got '%s' != expect '%s'", got, want)
	}
	return nil
}
