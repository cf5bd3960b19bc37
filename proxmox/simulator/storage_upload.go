package simulator

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
func (c *call) fileTarget() (*storage, string, error) {
	st, err := c.s.storageOn(c.node(), c.text("storage"))
	if err != nil {
		return nil, "", err
	}
	content, name := c.text("content"), normalName(c.text("filename"))
	if !st.files() {
		return nil, "", fail("can't upload to storage type '%s'", st.kind)
	}
	if !fileNames[content].MatchString(name) {
		if content == "import" {
			return nil, "", invalid("filename", "invalid filename or wrong extension")
		}
		return nil, "", invalid("filename", "wrong file extension")
	}
	if !st.holds(content) {
		return nil, "", fail("storage '%s' does not support '%s' content", st.name, content)
	}
	return st, st.name + ":" + content + "/" + name, nil
}

func (c *call) uploadContent() (any, error) {
	if err := c.s.reach(c.node()); err != nil && c.node() != c.s.local {
		return nil, fail("can't activate storage '%s' on node '%s': command failed", c.text("storage"), c.node())
	}
	st, id, err := c.fileTarget()
	if err != nil {
		return nil, err
	}
	if c.file == nil {
		return nil, fail("temporary file does not exist")
	}
	data, algorithm, want, content := c.file.data, c.text("checksum-algorithm"), c.text("checksum"), c.text("content")
	// An upload is not handed on to the node it names: the one that answers the API copies the file there.
	return c.fork(c.s.local, "imgcopy", "", func(t *task) error {
		if err := t.busy(); err != nil {
			return err
		}
		if err := verifyChecksum(data, algorithm, want); err != nil {
			return err
		}
		if !c.s.fits(st, t.node, int64(len(data))) {
			return fail("import failed: cp: error writing '%s': No space left on device", st.pathOf(strings.TrimPrefix(id, st.name+":")))
		}
		c.s.putFile(st, t.node, id, content, data)
		t.say("finished file import successfully")
		return nil
	}), nil
}

// putFile stores a file, in the place of one that has its name.
func (s *state) putFile(st *storage, node, id, content string, data []byte) {
	_, name := splitVolume(id)
	p, err := st.parseVolume(name)
	if err != nil {
		return // the name was checked before
	}
	s.putVolume(&volume{id: id, storage: st.name, node: node, content: content, format: p.format, size: int64(len(data)), data: data})
}

var hashes = map[string]func() hash.Hash{"md5": md5.New, "sha1": sha1.New, "sha224": sha256.New224, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New}

func verifyChecksum(data []byte, algorithm, want string) error {
	if algorithm == "" {
		return nil
	}
	h := hashes[algorithm]()
	h.Write(data)
	if got := hex.EncodeToString(h.Sum(nil)); !strings.EqualFold(got, want) {
		return fail("checksum mismatch: got '%s' != expect '%s'", got, want)
	}
	return nil
}
