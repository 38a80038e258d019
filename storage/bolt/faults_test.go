//go:build linux

package boltstore

import (
	"os"
	"reflect"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
)

// decision says what happens to a write from start to end in the file: its error, and that of the next sync.
type decision func(start, end int64) (write, sync error)

// faultyFile stands between bbolt and its file. It replaces the function by which bbolt writes, and where a sync is to
// fail, it puts a descriptor in the place of the file's that cannot be synced.
type faultyFile struct {
	t    *testing.T
	mu   sync.Mutex
	page decision

	file *os.File
	// good is another descriptor of the same open file, bad one on which a sync fails.
	good int
	bad  [2]int
	// writes and syncs count the faults.
	writes, syncs int
}

// newFaultyFile returns a file wrapper, and the options with which a store uses it.
func newFaultyFile(t *testing.T) (*faultyFile, Options) {
	t.Helper()
	f := &faultyFile{t: t, good: -1}
	require.NoError(t, syscall.Pipe(f.bad[:]))
	t.Cleanup(func() {
		f.repair()
		for _, fd := range []int{f.good, f.bad[0], f.bad[1]} {
			if fd >= 0 {
				require.NoError(t, syscall.Close(fd))
			}
		}
	})
	return f, Options{openFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
		file, err := os.OpenFile(name, flag, mode)
		if err == nil {
			f.use(file)
		}
		return file, err
	}}
}

func (f *faultyFile) use(file *os.File) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.good >= 0 {
		require.NoError(f.t, syscall.Close(f.good))
	}
	var err error
	f.good, err = syscall.Dup(int(file.Fd()))
	require.NoError(f.t, err)
	f.file = file
}

// inject makes a store's bbolt write through the wrapper from now on.
func (f *faultyFile) inject(s *Store, page decision) {
	f.mu.Lock()
	f.page = page
	f.mu.Unlock()
	f.hook(s.db)
}

func (f *faultyFile) hook(db *bbolt.DB) {
	field := reflect.ValueOf(db).Elem().FieldByName("ops").FieldByName("writeAt")
	hook := (*func([]byte, int64) (int, error))(unsafe.Pointer(field.UnsafeAddr()))
	*hook = f.writeAt
}

func (f *faultyFile) writeAt(b []byte, offset int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.repairLocked()
	var write, sync error
	if f.page != nil {
		write, sync = f.page(offset, offset+int64(len(b)))
	}
	if write != nil {
		f.writes++
		// A short write, as of a disk that fails in the middle.
		n, _ := syscall.Pwrite(f.good, b[:len(b)/2], offset)
		return n, &os.PathError{Op: "write", Path: f.file.Name(), Err: write}
	}
	n, err := syscall.Pwrite(f.good, b, offset)
	if sync != nil {
		f.syncs++
		require.NoError(f.t, f.lead(f.bad[0]))
	}
	return n, err
}

// unusable makes reads, writes and syncs of the file fail, until it is repaired.
func (f *faultyFile) unusable() {
	f.mu.Lock()
	defer f.mu.Unlock()
	require.NoError(f.t, f.lead(f.bad[0]))
}

// repair makes syncs succeed again.
func (f *faultyFile) repair() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.page = nil
	f.repairLocked()
}

// healed makes the next sync succeed; pages go on to be decided about.
func (f *faultyFile) healed() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.repairLocked()
}

func (f *faultyFile) repairLocked() {
	if f.good >= 0 && f.file != nil {
		_ = f.lead(f.good)
	}
}

// lead makes the store's descriptor lead to another file. The store may close its file at any time, as a sweep does that
// settles a failed write: an error then.
func (f *faultyFile) lead(to int) error {
	conn, err := f.file.SyscallConn()
	if err != nil {
		return err
	}
	var led error
	if err := conn.Control(func(fd uintptr) { led = syscall.Dup3(to, int(fd), syscall.O_CLOEXEC) }); err != nil {
		return err
	}
	return led
}
