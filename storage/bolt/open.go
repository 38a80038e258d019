package boltstore

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/compactord/compactord/storage"
)

// storeVersion is the version of the buckets, keys and values that this package writes.
const storeVersion = 1

// Open opens the store in the file at path, and creates it where there is none. It returns ErrInUse while another
// process has it open, ErrNewer where a newer version wrote it, and storage.ErrCorrupt where the file is no store.
func Open(path string, options Options) (*Store, error) {
	s, err := open(path, options)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, err)
	}
	return s, nil
}

func open(path string, options Options) (*Store, error) {
	if err := checkLength(path); err != nil {
		return nil, err
	}
	db, err := openBolt(path, options)
	if err != nil {
		return nil, err
	}
	if err := prepare(db, path); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s := &Store{db: db, path: path, opening: rand.Text(), synced: options.synced, queue: newQueue()}
	if !options.ReadOnly {
		s.writer = make(chan struct{})
		go s.write()
	}
	return s, nil
}

func openBolt(path string, options Options) (db *bbolt.DB, err error) {
	timeout := options.LockTimeout
	if timeout == 0 {
		timeout = time.Second
	}
	mapSize := options.MapSize
	if mapSize == 0 && runtime.GOOS != "windows" {
		mapSize = 1 << 30
	}
	openFile := options.openFile
	if openFile == nil {
		openFile = os.OpenFile
	}
	var file *os.File
	defer func() {
		if err != nil && file != nil {
			// bbolt closes it, except after a panic.
			_ = file.Close()
		}
	}()
	defer guard(&err)()
	db, err = bbolt.Open(path, 0o600, &bbolt.Options{
		Timeout:      timeout,
		ReadOnly:     options.ReadOnly,
		FreelistType: bbolt.FreelistMapType,
		// So a commit need not write the list of free pages; an opening reads the tree instead.
		NoFreelistSync:  true,
		InitialMmapSize: int(mapSize),
		MaxSize:         int(options.MaxSize),
		OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
			var err error
			file, err = openFile(name, flag, mode)
			return file, err
		},
	})
	if errors.Is(err, berrors.ErrTimeout) {
		return nil, ErrInUse
	}
	if err != nil {
		return nil, mapError(err)
	}
	if options.MaxSize > 0 {
		// bbolt grows the file by AllocSize at a time, which it does not count when it checks the limit.
		db.AllocSize = int(min(int64(db.AllocSize), options.MaxSize/16))
	}
	return db, nil
}

// prepare creates the buckets of a new store. It returns an error for one that this version cannot read.
func prepare(db *bbolt.DB, path string) (err error) {
	defer guard(&err)()
	empty := false
	err = db.View(func(tx *bbolt.Tx) error {
		name, _ := tx.Cursor().First()
		empty = name == nil
		if empty {
			return nil
		}
		return checkVersion(tx)
	})
	if err != nil || !empty {
		return err
	}
	if db.IsReadOnly() {
		return corrupt("it contains no store")
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		for _, name := range allBuckets {
			if _, err := tx.CreateBucket(name); err != nil {
				return err
			}
		}
		meta := tx.Bucket(metaBucket)
		if err := meta.Put(versionKey, binary.BigEndian.AppendUint32(nil, storeVersion)); err != nil {
			return err
		}
		return meta.Put(nextOrdinalKey, ordinalKey(1))
	})
	if err != nil {
		return mapError(err)
	}
	return syncDirectory(filepath.Dir(path))
}

func checkVersion(tx *bbolt.Tx) error {
	meta := tx.Bucket(metaBucket)
	if meta == nil {
		return corrupt("it is not a store of this program")
	}
	value := meta.Get(versionKey)
	if len(value) != 4 {
		return corrupt("it has no version")
	}
	// The version comes first: this version cannot know the buckets of a newer one.
	if version := binary.BigEndian.Uint32(value); version > storeVersion {
		return fmt.Errorf("%w: store version %d, this program reads up to %d", ErrNewer, version, storeVersion)
	} else if version < storeVersion {
		return corrupt("store version %d was never released", version)
	}
	for _, name := range allBuckets {
		if tx.Bucket(name) == nil {
			return corrupt("bucket %s is missing", name)
		}
	}
	if len(meta.Get(nextOrdinalKey)) != 8 {
		return corrupt("it has no next ordinal")
	}
	return nil
}

// syncDirectory syncs the name of a new file to disk. Without that a crash may lose the file with everything in it.
func syncDirectory(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// checkLength returns an error for a file that is shorter than its own header says, such as an incomplete copy. bbolt
// would map it and fault on the first missing page, in a goroutine where nothing can recover. It takes no lock, since a
// writer in another process only makes the file longer.
func checkLength(path string) error {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.IsDir() {
		return errors.New("it is a directory")
	}
	if needed := neededLength(file); info.Size() < needed {
		return corrupt("it is incomplete: %d bytes of %d", info.Size(), needed)
	}
	return nil
}

// neededLength returns the length of the file according to the newer of bbolt's two headers; 0 where there is no valid
// header.
func neededLength(file io.ReaderAt) int64 {
	pageSize := int64(os.Getpagesize())
	var length int64
	var newest uint64
	for page := range int64(2) {
		var header [80]byte
		if _, err := file.ReadAt(header[:], page*pageSize); err != nil {
			continue
		}
		// After the page's own header of 16 bytes: magic, version, page size, flags (4 bytes each), root bucket (16),
		// freelist, number of pages, transaction (8 each), checksum over all of these.
		meta := header[16:]
		sum := fnv.New64a()
		_, _ = sum.Write(meta[:56])
		if binary.NativeEndian.Uint64(meta[56:]) != sum.Sum64() {
			continue
		}
		pageSize = int64(binary.NativeEndian.Uint32(meta[8:]))
		if tx := binary.NativeEndian.Uint64(meta[48:]); tx >= newest {
			newest = tx
			length = int64(binary.NativeEndian.Uint64(meta[40:])) * pageSize
		}
	}
	return length
}

// nextOrdinal returns an ordinal for a new session and counts it as used.
func nextOrdinal(tx *bbolt.Tx) (uint64, error) {
	meta := tx.Bucket(metaBucket)
	value := meta.Get(nextOrdinalKey)
	if len(value) != 8 {
		return 0, fmt.Errorf("%w: no next ordinal", storage.ErrCorrupt)
	}
	ordinal := binary.BigEndian.Uint64(value)
	return ordinal, meta.Put(nextOrdinalKey, ordinalKey(ordinal+1))
}
