package nocloud_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/lab/guests/bootstrapdata"
	"kubehenge.dev/lab/guests/nocloud"
)

const metaData = "instance-id: 5f0c\nlocal-hostname: a\n"

func image(t testing.TB, label string, files map[string]string) []byte {
	t.Helper()
	data, err := bootstrapdata.ISO(label, files)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestReadISO(t *testing.T) {
	files := map[string]string{"user-data": "#cloud-config\n", "meta-data": metaData, "network-config": "version: 2\n"}
	cases := map[string]struct {
		image []byte
		want  *nocloud.Media
		err   string
	}{
		"all three files are read": {
			image: image(t, "cidata", files),
			want:  &nocloud.Media{UserData: []byte("#cloud-config\n"), MetaData: []byte(metaData), NetworkConfig: []byte("version: 2\n")},
		},
		"the label may be in upper case": {
			image: image(t, "CIDATA", map[string]string{"user-data": "u", "meta-data": "m"}),
			want:  &nocloud.Media{UserData: []byte("u"), MetaData: []byte("m")},
		},
		"packed user-data is unpacked": {
			image: image(t, "cidata", map[string]string{"user-data": packed(t, "#cloud-config\n"), "meta-data": "m"}),
			want:  &nocloud.Media{UserData: []byte("#cloud-config\n"), MetaData: []byte("m")},
		},
		"an empty drive":                   {err: "no medium"},
		"another label is no data source":  {image: image(t, "backup", files), err: "label is not cidata"},
		"without user-data nothing is set": {image: image(t, "cidata", map[string]string{"meta-data": "m"}), err: "user-data is missing"},
		"without meta-data nothing is set": {image: image(t, "cidata", map[string]string{"user-data": "u"}), err: "meta-data is missing"},
		"damaged packed user-data":         {image: image(t, "cidata", map[string]string{"user-data": packed(t, "x")[:12], "meta-data": "m"}), err: "unpack user-data"},
		"a cut-off image":                  {image: image(t, "cidata", files)[:20000], err: "read ISO image"},
		"something else":                   {image: bytes.Repeat([]byte("x"), 60000), err: "read ISO image"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := nocloud.ReadISO(c.image)
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Fatalf("error %v, want %q", err, c.err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The image was written by go-diskfs 1.9.3 with Rock Ridge and Joliet names, which is what go-proxmox 0.9 does for capmox.
func TestReadISOWrittenByGoDiskfs(t *testing.T) {
	got, err := nocloud.ReadISO(diskfsImage(t))
	if err != nil {
		t.Fatal(err)
	}
	want := &nocloud.Media{
		UserData: []byte("#cloud-config\nruncmd: [true]\n"), MetaData: []byte(metaData), NetworkConfig: []byte("version: 1\nconfig: []\n"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func diskfsImage(t testing.TB) []byte {
	t.Helper()
	file, err := os.Open("testdata/go-diskfs.iso.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	reader, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func packed(t testing.TB, text string) string {
	t.Helper()
	var buffer bytes.Buffer
	writer := gzip.NewWriter(&buffer)
	if _, err := writer.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return buffer.String()
}

func FuzzReadISO(f *testing.F) {
	good := image(f, "cidata", map[string]string{"user-data": "u", "meta-data": "m"})
	f.Add(good)
	f.Add(good[:40000])
	f.Add([]byte("CD001"))
	f.Fuzz(func(t *testing.T, data []byte) {
		media, err := nocloud.ReadISO(data)
		if (media == nil) == (err == nil) {
			t.Errorf("media %v and error %v", media, err)
		}
		if errors.Is(err, nocloud.ErrNoMedium) && len(data) > 0 {
			t.Error("a medium that is there was taken for none")
		}
	})
}
