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
	"slices"
	"strconv"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/bolt/internal/pages"
	"github.com/compactord/compactord/storage/internal/forms"
)

// The versions of the buckets, keys and values that this package writes, of which storeVersion is the newest.
//
// Version 2 has sums in all values. A store of version 1 gets them when it is opened for writing, unless a page of it is
// damaged; what is only read stays as it is. Version 3 is version 2 with encrypted values. A store becomes one only by
// Encrypt, so that earlier versions of the program can read all others.
const (
	plainVersion = 2
	storeVersion = 3
)

// Open opens the store in the file at path, and creates it where there is none. It returns ErrInUse while another
// process has it open, ErrNewer where a newer version wrote it, and storage.ErrCorrupt where the file is no store.
func Open(path string, options Options) (*Store, error) {
	before, statErr := os.Stat(path)
	s, err := open(path, options)
	if errors.Is(err, storage.ErrCorrupt) && statErr == nil {
		if now, statErr := os.Stat(path); statErr == nil && !os.SameFile(before, now) {
			// Another process has put a new file there meanwhile, and overwritten the old one.
			err = ErrInUse
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, err)
	}
	return s, nil
}

func open(path string, options Options) (*Store, error) {
	cut, err := checkLength(path)
	if err != nil && (cut == 0 || !options.ReadOnly || !options.Damaged) {
		return nil, err
	}
	s, openErr := openLong(path, options, cut)
	if errors.Is(openErr, storage.ErrCorrupt) && cut > 0 {
		// Too little is left: what is missing says more than what bbolt or a page says about it.
		return nil, err
	}
	return s, openErr
}

// mapsAhead says whether a file can be mapped with room for what is appended to it.
const mapsAhead = runtime.GOOS != "windows" && strconv.IntSize == 64

// openLong opens a file. cut is the length of one that lacks its end, else 0.
func openLong(path string, options Options, cut int64) (*Store, error) {
	options.listLater = options.ListFreeLater && !options.OverwriteFreed && mapsAhead
	s := &Store{path: path, opening: rand.Text(), synced: options.synced, queue: newQueue(), options: options}
	var err error
	if s.damagedHeaders, err = readHeaders(path); err != nil {
		return nil, err
	}
	if s.db, s.file, s.fallen, err = openOrFall(path, options); err != nil {
		return nil, err
	}
	if s.has, err = prepare(s.db, path, options, cut); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	s.keys.Store(s.has.form.keys)
	s.olderKeys.Store(int64(s.has.olderKeys))
	if err := s.noteNewest(); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	s.pageSize = s.db.Info().PageSize
	if s.identity, err = s.file.Stat(); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	if there, err := os.Stat(path); err == nil && !os.SameFile(there, s.identity) {
		// Another process has put a new file there while this one waited for the lock on the old one.
		return nil, errors.Join(ErrInUse, s.db.Close())
	}
	if s.fallen {
		s.outages.begins(errFallen, false)
	}
	if !options.ReadOnly {
		s.eraseLeft()
		s.freed()
		s.writer = make(chan struct{})
		// A list that was not sealed before a crash gets its seal.
		s.upkeep = upkeep{last: time.Now(), seal: !s.fallen}
		if err := s.searchFree(nil); err != nil {
			return nil, errors.Join(err, s.db.Close())
		}
		go s.write()
	}
	return s, nil
}

// openOrFall opens the file, for reading where its file system is read-only and the options allow that.
func openOrFall(path string, options Options) (db *bbolt.DB, file *os.File, fallen bool, err error) {
	db, file, err = openBolt(path, options)
	if !options.ReadOnlyFallback || options.ReadOnly || !isReadOnly(err) {
		return db, file, false, err
	}
	if info, statErr := os.Stat(path); statErr != nil || info.Size() == 0 {
		// There is no store to read, and none can be made.
		return nil, nil, false, err
	}
	options.ReadOnly = true
	db, file, err = openBolt(path, options)
	return db, file, err == nil, err
}

// fileMode is the mode of a new store.
const fileMode = 0o600

func openBolt(path string, options Options) (db *bbolt.DB, file *os.File, err error) {
	timeout := options.LockTimeout
	if timeout == 0 {
		timeout = time.Second
	}
	mapSize := options.MapSize
	if mapSize == 0 && runtime.GOOS != "windows" {
		mapSize = 1 << 30
	}
	if info, err := os.Stat(path); err == nil && options.listLater {
		// Nobody need wait for the search for free pages, unless writes add more than that.
		mapSize += info.Size()
	}
	var opened *os.File
	defer func() {
		if err != nil && opened != nil {
			// bbolt has closed it, except after a panic.
			_ = opened.Close()
		}
	}()
	defer guard(&err)()
	opened, free, err := openReady(path, options, timeout)
	if err != nil {
		return nil, nil, mapError(err)
	}
	db, err = bbolt.Open(path, fileMode, &bbolt.Options{
		Timeout:         timeout,
		ReadOnly:        options.ReadOnly,
		FreelistType:    options.freelist(free),
		InitialMmapSize: int(mapSize),
		MaxSize:         int(options.MaxSize),
		OpenFile:        func(string, int, os.FileMode) (*os.File, error) { return opened, nil },
	})
	if errors.Is(err, berrors.ErrTimeout) {
		err = ErrInUse
	}
	if err != nil {
		return nil, nil, mapError(err)
	}
	if options.MaxSize > 0 {
		// bbolt grows the file by AllocSize at a time, which it does not count when it checks the limit.
		db.AllocSize = int(min(int64(db.AllocSize), options.MaxSize/16))
	}
	return db, opened, nil
}

// openReady opens the file, and makes it ready to be written unless it is only read. free is how many of its pages are
// free. The file is returned with an error, too.
func openReady(path string, options Options, timeout time.Duration) (file *os.File, free int, err error) {
	if options.ReadOnly {
		file, err = options.open(path, os.O_RDONLY, fileMode)
		return file, 0, err
	}
	if file, err = options.open(path, os.O_RDWR|os.O_CREATE, fileMode); err == nil {
		free, err = makeReady(file, timeout, options)
	}
	return file, free, err
}

// prepare creates the buckets of a new store, and seals the values of an older one. It returns an error for a store that
// this version cannot read, or for which keys are missing.
func prepare(db *bbolt.DB, path string, options Options, cut int64) (has contents, err error) {
	defer guard(&err)()
	has.cut = cut
	var found openable
	err = db.View(func(tx *bbolt.Tx) (err error) {
		t := begin(tx, contents{sums: true, list: true, cut: cut})
		if err := t.disk.CheckNewest(); err != nil && !options.Damaged {
			return unusable(err)
		}
		// What is written has been made ready, so its list is sound.
		has.list = !db.IsReadOnly() || t.disk.HasSealedList() || t.disk.HasFollowingList() || t.disk.HasCheckedList()
		t = begin(tx, contents{sums: true, list: has.list, cut: cut})
		found, err = openableOf(t, options)
		return err
	})
	has.sums, has.version, has.form = found.state == sealedStore || found.state == encryptedStore, found.version, found.form
	switch {
	case err != nil:
		return has, err
	case db.IsReadOnly():
		return has, readable(found.state)
	case found.state == encryptedStore:
		sealing := has.form.keys.Sealing()
		has.olderKeys = len(slices.DeleteFunc(slices.Clone(found.keys), func(id string) bool { return id == sealing }))
		return has, found.form.beginSealing(db, found.keys)
	case has.sums, found.state == damagedStore:
		return has, nil
	case found.state == emptyFile:
		has.sums, has.form.keys = true, options.Keys
		has.version = has.form.version()
		if err := db.Update(has.form.create); err != nil {
			return has, mapError(err)
		}
		return has, syncDirectory(filepath.Dir(path))
	default:
		// One whose conversion was interrupted says its new version already.
		if options.Migrating != nil && has.version < plainVersion {
			options.Migrating(has.version, plainVersion)
		}
		has.sums, has.version = true, plainVersion
		return has, sealAll(db)
	}
}

// openable is a store that this version can read with the keys that were given.
type openable struct {
	state   state
	version uint32
	form    form
	// keys are the ids of the keys that an encrypted store names.
	keys []string
}

// openableOf returns an error for a file that cannot be opened: by this version, or with the keys of the options.
func openableOf(tx *transaction, options Options) (found openable, err error) {
	if found.state, found.version, err = stateOf(tx); err != nil {
		return found, err
	}
	if found.state != emptyFile && !options.Receiving && !options.Damaged && tx.Bucket(metaBucket).has(unfinishedKey) {
		return found, storage.ErrUnfinished
	}
	switch {
	case found.state == encryptedStore:
		found.form.keys = options.Keys
		found.keys, err = checkKeys(tx.Bucket(metaBucket).Get(keysKey), options.Keys)
	case found.state != emptyFile && options.Keys != nil && !options.ReadOnly:
		err = ErrPlain
	}
	return found, err
}

// readable returns the error for a store that cannot be read as it is.
func readable(found state) error {
	switch found {
	case emptyFile:
		return forms.Damaged("it contains no store")
	case halfSealedStore:
		return errHalfSealed
	default:
		return nil
	}
}

// errHalfSealed means that only a part of the values of an older store has got sums yet.
var errHalfSealed = errors.New("its conversion from an earlier version was interrupted; open it for writing once")

// create writes an empty store.
func (f form) create(tx *bbolt.Tx) error {
	for _, name := range allBuckets {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	meta := tx.Bucket(metaBucket)
	if err := meta.Put(versionKey, binary.BigEndian.AppendUint32(nil, f.version())); err != nil {
		return err
	}
	if f.keys != nil {
		if err := f.nameKey(tx, nil); err != nil {
			return err
		}
	}
	return meta.Put(nextOrdinalKey, seal(metaBucket, nextOrdinalKey, ordinalKey(1)))
}

// state is what a file holds.
type state int

const (
	emptyFile state = iota
	// soundStore is a store of version 1, damagedStore one with a damaged page.
	soundStore
	damagedStore
	halfSealedStore
	sealedStore
	encryptedStore
)

// stateOf returns what a file holds, and the version of the store in it.
func stateOf(tx *transaction) (found state, version uint32, err error) {
	names, err := tx.disk.Names()
	if err != nil {
		return 0, 0, unusable(err)
	}
	if len(names) == 0 {
		return emptyFile, 0, nil
	}
	if !slices.Contains(names, string(metaBucket)) {
		return 0, 0, forms.Damaged("it is not a store of this program")
	}
	meta := tx.Bucket(metaBucket)
	value := meta.Get(versionKey)
	if len(value) != 4 {
		return 0, 0, forms.Damaged("it has no version")
	}
	// The version comes first: this version cannot know the buckets of a newer one.
	version = binary.BigEndian.Uint32(value)
	switch {
	case version > storeVersion:
		return 0, 0, &VersionError{Found: version, Newest: storeVersion}
	case version == 0:
		return 0, 0, forms.Damaged("store version %d was never released", version)
	}
	for _, name := range allBuckets {
		if !slices.Contains(names, string(name)) {
			return 0, 0, forms.Damaged("bucket %s is missing", name)
		}
	}
	found = sealedStore
	switch {
	case version == 1:
		tx.sealed = false
		found = soundStore
		if !tx.disk.Walk(func() bool { return false }, func(string, error) {}).Whole() {
			found = damagedStore
		}
	case version == plainVersion && meta.has(sealingBucketKey):
		return halfSealedStore, version, nil
	case version == storeVersion:
		found = encryptedStore
	}
	if len(meta.Get(nextOrdinalKey)) != 8 {
		return 0, 0, forms.Damaged("it has no next ordinal")
	}
	return found, version, nil
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
// writer in another process only makes the file longer. It returns the length of such a file.
func checkLength(path string) (cut int64, err error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	if info.IsDir() {
		return 0, errors.New("it is a directory")
	}
	if needed := neededLength(file); info.Size() < needed {
		return info.Size(), forms.Damaged("it is incomplete: %d bytes of %d", info.Size(), needed)
	}
	return 0, nil
}

// Incomplete returns what a file lacks that has been cut short; nil for a whole one.
func (s *Store) Incomplete() error {
	_, err := checkLength(s.path)
	return err
}

// readHeaders returns what is wrong with the headers of a file that has a sound one. Writing replaces a damaged older
// one, so that it can only be seen before. That no header
// is sound is not said here.
func readHeaders(path string) (damage []string, err error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	damaged, err := pages.DamagedHeaders(file)
	if errors.Is(err, pages.ErrOtherFormat) {
		return nil, errOtherFormat
	}
	for _, err := range damaged {
		damage = append(damage, err.Error())
	}
	return damage, nil
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
func nextOrdinal(tx *transaction) (uint64, error) {
	meta := tx.Bucket(metaBucket)
	value := meta.Get(nextOrdinalKey)
	if len(value) != 8 {
		return 0, fmt.Errorf("%w: no next ordinal", storage.ErrCorrupt)
	}
	ordinal := binary.BigEndian.Uint64(value)
	return ordinal, meta.Put(nextOrdinalKey, ordinalKey(ordinal+1))
}
