package api

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/cmd/compactord/internal/inprocess"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/dialects"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/service/policies"
	"github.com/compactord/compactord/service/tenant"
	"github.com/compactord/compactord/storage"
	boltstore "github.com/compactord/compactord/storage/bolt"
	"github.com/compactord/compactord/storage/keyring"
	"github.com/compactord/compactord/storage/memory"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
)

// EmbedTemporary starts the service on a temporary store. Closing the client removes the store.
func (a *App) EmbedTemporary(ctx context.Context) (*Client, error) {
	folder, remove, err := a.Temporary.Make("")
	if err != nil {
		return nil, fmt.Errorf("cannot make a folder for the temporary store: %w", err)
	}
	c, err := a.embed(ctx, filepath.Join(folder, "store.db"), nil, tenant.Default)
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	end := c.end
	c.end = func() error { return errors.Join(end(), remove()) }
	return c, nil
}

// embed starts the service in this process, on the store in a file or a database, for the sessions of a tenant.
func (a *App) embed(ctx context.Context, path string, keys *keyring.Ring, owner string) (*Client, error) {
	if IsDatabase(path) {
		return a.embedDatabase(ctx, path, keys, owner)
	}
	store, err := a.OpenStore(path, boltstore.Options{ReadOnlyFallback: true, Keys: keys})
	if err != nil {
		return nil, err
	}
	return a.embedOn(ctx, quietly{store}, owner)
}

// quietly is a store whose outages are not logged: the error of the command says that the store refuses.
type quietly struct{ storage.Store }

// EmbedInMemory starts the service on a store in memory. It does not wait for a disk.
func (a *App) EmbedInMemory(ctx context.Context) (*Client, error) {
	return a.embedOn(ctx, memory.New(), tenant.Default)
}

// embedOn starts the service in this process. Closing the client closes the store.
func (a *App) embedOn(ctx context.Context, store storage.Store, owner string) (*Client, error) {
	options, err := a.ServiceOptions(store, a.OwnLogger())
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	server, err := service.NewServer(service.ServerOptions{Options: options, MaxMessageBytes: maxAnswer, Tenant: owner})
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	listener := inprocess.Listen()
	// The service goes on after a Ctrl-C, so that it can end the cancelled call properly.
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- server.Run(running, listener) }()
	end := func() error {
		stop()
		return errors.Join(<-ended, store.Close())
	}
	c, err := new(Client).connect("passthrough:///embedded", insecure.NewCredentials(), grpc.WithContextDialer(
		func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) },
	))
	if err != nil {
		return nil, errors.Join(err, end())
	}
	c.end, c.PageBytes = end, ownPageBytes
	return c, nil
}

// ServiceOptions returns the options that the daemon and a service in this process share.
func (a *App) ServiceOptions(store storage.Store, logger *slog.Logger) (service.Options, error) {
	planners, err := strategies.NewRegistry(strategies.Builtin()...)
	if err != nil {
		return service.Options{}, err
	}
	var first summarizers.Summarizer = extractive.New()
	if a.Summarizer != nil {
		first = a.Summarizer
	}
	registry, err := summarizers.NewRegistry(slices.Concat([]summarizers.Summarizer{first}, a.Models)...)
	if err != nil {
		return service.Options{}, err
	}
	options := service.Options{
		Store: store, Strategies: planners, Summarizers: registry, Dialects: dialects.All(), Logger: logger,
		Policies: policies.Set{Default: &compactordv1.Policy{}},
	}
	if a.DefaultSummarizer != "" {
		options.Policies.Default.Summary = &compactordv1.SummaryPolicy{Summarizer: proto.String(a.DefaultSummarizer)}
	}
	return options, nil
}

// MakeStore makes a store that the command line names by an argument, with keys an encrypted one.
func MakeStore(path string, keys *keyring.Ring) (*boltstore.Store, error) {
	return openStore(path, boltstore.Options{Keys: keys}, "choose another place for the new store")
}

// OpenStore opens a store. Its errors say what to do.
func OpenStore(path string, options boltstore.Options) (*boltstore.Store, error) {
	return openStore(path, options, "name a store elsewhere with --store")
}

// openStore opens a store. elsewhere is what can be done where a file system cannot be written.
func openStore(path string, options boltstore.Options, elsewhere string) (*boltstore.Store, error) {
	if err := RefuseDatabase(path); err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil {
		switch {
		case !info.Mode().IsRegular() && !info.IsDir():
			// Opening a pipe would wait for a writer.
			return nil, fmt.Errorf("cannot open the store %s: it is not a regular file", path)
		case info.Size() == 0 && options.ReadOnly:
			return nil, fmt.Errorf("the file %s is empty: it holds no store", path)
		}
	}
	store, err := boltstore.Open(path, options)
	var key *boltstore.KeyError
	var version *boltstore.VersionError
	switch {
	case err == nil:
		return store, nil
	case errors.As(err, &key):
		return nil, terminal.Advise(fmt.Errorf("cannot open the store %s: %w", path, key),
			"Name the file with all its keys by --store-keys, or the variable with them by --store-keys-env.")
	case errors.Is(err, boltstore.ErrPlain):
		return nil, terminal.Advise(fmt.Errorf("cannot open the store %s: %w", path, boltstore.ErrPlain),
			"To encrypt it: %s\nOr leave --store-keys out.", terminal.Command("encrypt", "--store", path))
	case errors.As(err, &version):
		return nil, terminal.Advise(fmt.Errorf("the store %s was written by a newer version of compactord: it has version %d, and "+
			"this one reads up to version %d", path, version.Found, version.Newest), "Use that version.")
	case errors.Is(err, storage.ErrUnfinished):
		return nil, ExplainUnfinished(path)
	case errors.Is(err, boltstore.ErrInUse):
		return nil, terminal.Advise(fmt.Errorf("the store %s is in use by another process", path),
			"If that is a daemon, stop it first. Commands on sessions work with a daemon too: --addr.")
	case errors.Is(err, boltstore.ErrNewer):
		return nil, terminal.Advise(fmt.Errorf("the store %s was written by a newer version of compactord", path), "Use that version.")
	case errors.Is(err, storage.ErrCorrupt) && foreignKind(path) != "":
		return nil, terminal.Advise(&foreignError{path: path, kind: foreignKind(path)},
			"Name another file: the daemon makes a new store where there is none.")
	case errors.Is(err, storage.ErrCorrupt):
		return nil, fmt.Errorf("%s is damaged, or not a store of compactord: %w", path, withoutPath(err))
	case errors.Is(err, fs.ErrNotExist) && MissingFolder(path) != "":
		return nil, terminal.Advise(fmt.Errorf("cannot open the store %s: there is no folder %s", path, MissingFolder(path)),
			"Make it with mkdir -p, or name another place with --store.")
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("cannot open the store %s: there is no such file or folder", path)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("cannot open the store %s: permission denied", path)
	case errors.Is(err, syscall.EROFS):
		return nil, terminal.Advise(fmt.Errorf("cannot write the store %s: its file system is read-only", path),
			"Mount it writable, such as by mount -o remount,rw, or "+elsewhere+".")
	default:
		return nil, fmt.Errorf("cannot open the store %s: %w", path, withoutPath(err))
	}
}

// withoutPath returns what the store's package says is wrong, without the name of the file, which it puts before it.
func withoutPath(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

// Exists says whether a file with this name exists. A database does, as far as one can tell without asking it.
func Exists(path string) bool {
	if IsDatabase(path) {
		return true
	}
	_, err := os.Stat(path)
	return err == nil
}
