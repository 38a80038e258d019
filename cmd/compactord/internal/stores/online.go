package stores

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage/backup"
)

// ofDaemon makes a backup of the store of a daemon.
func (c *Backup) ofDaemon(ctx context.Context, a *api.App, p *terminal.Progress) (made backup.Contents, err error) {
	client, err := a.Dial(cmp.Or(c.Addr, api.DefaultListen), c.Security)
	if err != nil {
		return backup.Contents{}, err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	p.Stage("waiting for the daemon's copy", "", 0)
	// The end of the call ends the daemon's work.
	ctx, end := context.WithCancel(ctx)
	defer end()
	stream, err := client.Stores.Backup(ctx, &compactordv1.BackupRequest{})
	if err != nil {
		return backup.Contents{}, client.Explain(ctx, err)
	}
	received := &receiving{progress: p, next: func() ([]byte, error) {
		answer, err := stream.Recv()
		if err != nil && !errors.Is(err, io.EOF) {
			err = client.Explain(ctx, err)
		}
		return answer.GetContent(), err
	}}
	if c.To == standard {
		// What arrives is written at once. Its sum is compared, too.
		return backup.Read(io.TeeReader(received, a.Out), io.Discard)
	}
	return c.inParts(func(part string) (backup.Contents, error) { return receive(received, part) })
}

// receive writes a backup to a new file, and then reads it again.
func receive(from io.Reader, path string) (made backup.Contents, err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return backup.Contents{}, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := io.Copy(file, from); err != nil {
		return backup.Contents{}, err
	}
	if err := file.Sync(); err != nil {
		return backup.Contents{}, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return backup.Contents{}, err
	}
	return backup.Read(file, io.Discard)
}

// receiving reads the pieces of a stream.
type receiving struct {
	next     func() ([]byte, error)
	progress *terminal.Progress
	rest     []byte
	done     int64
}

func (r *receiving) Read(content []byte) (int, error) {
	for len(r.rest) == 0 {
		piece, err := r.next()
		if err != nil {
			return 0, err
		}
		if r.done == 0 {
			r.progress.Stage("receiving the backup", "bytes", 0)
		}
		r.rest = piece
	}
	n := copy(content, r.rest)
	r.rest = r.rest[n:]
	r.done += int64(n)
	r.progress.Update(r.done)
	return n, nil
}
