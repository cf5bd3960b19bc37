package process

import (
	"fmt"
	"os"
	"sync"
)

// logFile is a file that is moved aside, to name.1, when it reaches its limit, so that a child's logs never take
// more than twice that.
type logFile struct {
	mu    sync.Mutex
	path  string
	limit int64
	size  int64
	file  *os.File
}

func openLog(path string, limit int64) (*logFile, error) {
	l := &logFile{path: path, limit: limit}
	if err := l.open(); err != nil {
		return nil, err
	}
	return l, nil
}

func (l *logFile) open() error {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return fmt.Errorf("open log %s: %w", l.path, err)
	}
	l.file, l.size = f, info.Size()
	return nil
}

// Write implements io.Writer.
func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size > 0 && l.size+int64(len(p)) > l.limit {
		if err := l.rotate(); err != nil {
			return 0, err
		}
	}
	n, err := l.file.Write(p)
	l.size += int64(n)
	return n, err
}

func (l *logFile) rotate() error {
	l.file.Close()
	if err := os.Rename(l.path, l.path+".1"); err != nil {
		return fmt.Errorf("rotate log: %w", err)
	}
	return l.open()
}

// Close implements io.Closer.
func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Close()
}
