package boltstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/compactord/compactord/storage"
)

// A file that a new one replaces keeps its content on the disk, in blocks that the file system only calls free. So it gets
// a second name before the new one takes its place, is overwritten under that name, and removed. Where the process is
// killed, the next Defrag or Open finds the name and goes on.
//
// The second name can lead to the store itself, where the kill came between the two steps, and then it is only removed. The
// old file is overwritten once the new name is on the disk, and while no other process has it open.

const (
	// replacedSuffix is behind the path of the store in the second name of a file that was replaced.
	replacedSuffix = ".replaced"
	// rewrittenSuffix is behind it in the name of the file that is to replace the store's.
	rewrittenSuffix = ".defrag"
	// eraseStep is how many bytes are overwritten at a time.
	eraseStep = 1 << 20
)

// LeftError means that a store was written anew, but that its old file is not overwritten yet. The next Defrag, and the next
// Open for writing, goes on with that.
type LeftError struct {
	Path string
	Err  error
}

func (e *LeftError) Error() string {
	return fmt.Sprintf("the store is written anew, but its old file, now %s, is not overwritten yet: %v", e.Path, e.Err)
}

// Unwrap returns why it is not.
func (e *LeftError) Unwrap() error { return e.Err }

// eraseReplaced overwrites and removes the file that was replaced by the one at path, if there is one, until ended returns an
// error. kept reports that somebody else has given it another name: then it is his, and only ours is removed.
func eraseReplaced(ended func() error, path string) (kept bool, err error) {
	second := path + replacedSuffix
	old, err := os.Lstat(second)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	store, err := os.Stat(path)
	if err != nil {
		// It may be all that is left.
		return false, err
	}
	same := os.SameFile(store, old)
	if kept = !same && hasNames(old, 2); same || kept || !old.Mode().IsRegular() {
		return kept, errors.Join(os.Remove(second), syncDirectory(filepath.Dir(path)))
	}
	// Else after a loss of power the name of the store could lead to the old file again.
	if err := syncDirectory(filepath.Dir(path)); err != nil {
		return false, err
	}
	return false, eraseFile(ended, second)
}

// eraseFile overwrites and removes a file.
func eraseFile(ended func() error, path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(overwrite(ended, file), file.Close()); err != nil {
		return err
	}
	return errors.Join(os.Remove(path), syncDirectory(filepath.Dir(path)))
}

// overwrite writes zeros to all of a file, and waits until they are on the disk. It returns ErrInUse where another process
// has the file open as a store.
func overwrite(ended func() error, file *os.File) error {
	if err := lock(file, time.Second); err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	zeros := make([]byte, eraseStep)
	for at := int64(0); at < info.Size(); at += eraseStep {
		if err := ended(); err != nil {
			return err
		}
		if _, err := file.WriteAt(zeros[:min(eraseStep, info.Size()-at)], at); err != nil {
			return err
		}
	}
	return file.Sync()
}

// secondName gives the store's file a second name. Where the file system or its rules allow none, the file is returned open:
// it is overwritten as long as the process is not killed.
func (s *Store) secondName(path string) (unnamed *os.File, err error) {
	link := os.Link
	if s.options.link != nil {
		link = s.options.link
	}
	err = link(path, path+replacedSuffix)
	switch {
	case err == nil:
		// Else a loss of power could keep the new file and lose the second name of the old one.
		return nil, syncDirectory(filepath.Dir(path))
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EMLINK):
		return os.OpenFile(path, os.O_RDWR, 0)
	default:
		return nil, err
	}
}

// eraseOld overwrites the file that was replaced by the one at path: unnamed, or the one with the second name.
func eraseOld(ended func() error, path string, unnamed *os.File) (kept bool, err error) {
	if unnamed == nil {
		return eraseReplaced(ended, path)
	}
	info, err := unnamed.Stat()
	if err != nil {
		return false, err
	}
	// Of an unnamed one, each name is another one.
	if kept = hasNames(info, 1); kept {
		return kept, nil
	}
	if err := syncDirectory(filepath.Dir(path)); err != nil {
		return false, err
	}
	return false, overwrite(ended, unnamed)
}

func never() error { return nil }

// discard overwrites and removes a copy that is of no use. One that cannot be overwritten is removed nevertheless.
func discard(path string) error {
	err := eraseFile(never, path)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return os.Remove(path)
}

// eraseLeft overwrites and removes, in the background, what was left beside the store by a process that was killed. Nobody
// else does that while the store is open for writing. Snapshots are only removed, at once, unless they are to be overwritten.
func (s *Store) eraseLeft() {
	left := snapshots(s.path)
	if !s.options.OverwriteFreed {
		for _, file := range left {
			_ = os.Remove(file)
		}
		left = nil
	}
	path, err := filepath.EvalSymlinks(s.path)
	if err != nil {
		return
	}
	ended := func() error {
		if s.closed.Load() {
			return storage.ErrClosed
		}
		return nil
	}
	s.erasing.Go(func() {
		for _, file := range append(left, path+replacedSuffix, path+rewrittenSuffix) {
			if _, err := os.Lstat(file); err != nil {
				continue
			}
			if file == path+replacedSuffix {
				_, err = eraseReplaced(ended, path)
			} else {
				err = eraseFile(ended, file)
			}
			if ended() == nil && s.options.Erased != nil {
				s.options.Erased(file, err)
			}
		}
	})
}
