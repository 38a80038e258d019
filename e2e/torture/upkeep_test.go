package torture_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const (
	// upkeepClients append at once, each to a session of its own.
	upkeepClients = 64
	// upkeepBrief is how many brief sessions a round writes, of which it deletes some. Retention keeps upkeepKept sessions:
	// those of the clients, which are changed all the time, and some brief ones.
	upkeepBrief, upkeepKept = 20, 120
)

// What the daemon logs when it begins to seal all anew with a new key, when it has done that, and when it refuses its
// configuration.
const (
	notTaken       = "the configuration was not taken"
	rotationBegins = "sealing anew what older keys of the store have sealed"
	rotationEnds   = "the store needs its older keys no longer"
)

// upkeepRounds is how often the daemon is killed.
func upkeepRounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("COMPACTORD_TORTURE_ROUNDS")
	if text == "" {
		return 2
	}
	rounds, err := strconv.Atoi(text)
	require.NoError(t, err, "COMPACTORD_TORTURE_ROUNDS")
	return rounds
}

// upkeep is a store on which all kinds of upkeep run while clients append, and what must be in it.
type upkeep struct {
	folder, store, keys, config string
	random                      *mathrand.Rand
	// lines are the lines of the file of keys, the newest first.
	lines []string
	// acknowledged is how many messages of each client's session were. One more may be there after a kill.
	acknowledged [upkeepClients]atomic.Int64
	// deleted are the brief sessions whose deletion was acknowledged.
	mu                                               sync.Mutex
	deleted                                          []string
	backups, defrags, killedDefrags, killedRotations int
}

// Backup, retention, deletion, overwriting and the rotation of keys, to one of the start and to another one at SIGHUP, run while
// 64 clients append, until the daemon is killed; then the store is defragmented, which is killed too. All that was acknowledged
// is there, nothing else is, the store is sound, and each backup is the log as it was at a point during the backup.
func TestUpkeepIsKilled(t *testing.T) {
	folder := t.TempDir()
	seed := seedOf(t)
	t.Logf("seed %d", seed)
	u := &upkeep{
		folder: folder, store: filepath.Join(folder, "data", "store.db"), keys: filepath.Join(folder, "keys"),
		config: filepath.Join(folder, "config.yaml"), random: mathrand.New(mathrand.NewPCG(seed, 0)),
	}
	require.NoError(t, os.Mkdir(filepath.Dir(u.store), 0o700))
	require.NoError(t, os.WriteFile(u.config, fmt.Appendf(nil, "retention:\n  count: %d\n", upkeepKept), 0o600))
	for round := range upkeepRounds(t) {
		u.addKey(t, fmt.Sprint("k", round))
		u.round(t, round)
		u.ran(t, "check", "--store", u.store, "--store-keys", u.keys)
		u.defragment(t)
		u.ran(t, "check", "--store", u.store, "--store-keys", u.keys)
	}
	d := u.serve(t, u.store)
	u.requireLogs(t, d, [upkeepClients]int64{}, true)
	d.end(t, syscall.SIGTERM)
	u.ran(t, "defrag", "--store", u.store, "--store-keys", u.keys)
	entries, err := os.ReadDir(filepath.Dir(u.store))
	require.NoError(t, err)
	for _, e := range entries {
		for _, left := range []string{".replaced", ".defrag", ".snapshot-"} {
			require.NotContains(t, e.Name(), left)
		}
	}
	t.Logf("%d backups restored, %d rotations killed, %d defrags, of which %d were killed",
		u.backups, u.killedRotations, u.defrags, u.killedDefrags)
}

// addKey makes a new key the one that seals.
func (u *upkeep) addKey(t *testing.T, id string) {
	t.Helper()
	secret := make([]byte, 32)
	_, err := rand.Read(secret)
	require.NoError(t, err)
	line := fmt.Sprintf("%s:%s\n", id, base64.StdEncoding.EncodeToString(secret))
	// A rotation that a kill has ended needs its key for longer than a round.
	u.lines = append([]string{line}, u.lines[:min(len(u.lines), 60)]...)
	require.NoError(t, os.WriteFile(u.keys+".new", []byte(strings.Join(u.lines, "")), 0o600))
	require.NoError(t, os.Rename(u.keys+".new", u.keys))
}

// killable is a daemon that a test ends.
type killable struct {
	address string
	process *exec.Cmd
	out     io.ReadCloser
	conn    *grpc.ClientConn
	log     *killableLog
}

// killableLog is what a daemon logs. Once it has ended, it can be read.
type killableLog struct {
	strings.Builder
	// reloaded is closed once the daemon has read its configuration again, or has refused it.
	reloaded chan struct{}
	once     sync.Once
}

func (l *killableLog) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("configuration read again")) || bytes.Contains(line, []byte(notTaken)) {
		l.once.Do(func() { close(l.reloaded) })
	}
	return l.Builder.Write(line)
}

func (u *upkeep) serve(t *testing.T, store string) *killable {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, "serve", "--listen", "127.0.0.1:0", "--drain-timeout", "1s",
		"--store", store, "--store-keys", u.keys, "--config", u.config, "--overwrite-freed", "--min-free-bytes", "0")
	log := &killableLog{reloaded: make(chan struct{})}
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = cmd.Wait()
		require.NoError(t, err, log.String())
	}
	found := listensOn.FindStringSubmatch(line)
	require.NotNil(t, found, line)
	conn, err := dial(found[1])
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return &killable{address: found[1], process: cmd, out: out, conn: conn, log: log}
}

// end leaves the connection open: calls on it end as on a daemon that is gone, or with their context.
func (d *killable) end(t *testing.T, signal os.Signal) {
	t.Helper()
	require.NoError(t, d.process.Process.Signal(signal))
	_, _ = io.Copy(io.Discard, d.out)
	err := d.process.Wait()
	if signal == syscall.SIGTERM {
		require.NoError(t, err)
	}
}

// ran runs a command that must succeed.
func (u *upkeep) ran(t *testing.T, args ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), binary, args...).CombinedOutput()
	require.NoError(t, err, "%s: %s", args[0], out)
}

// round runs a daemon with clients, and kills it after a number of appends.
func (u *upkeep) round(t *testing.T, round int) {
	t.Helper()
	d := u.serve(t, u.store)
	u.requireLogs(t, d, [upkeepClients]int64{}, true)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	// appends are counted down: to the hangup, and then to the kill.
	var appends atomic.Int64
	appends.Store(int64(100 + u.random.IntN(500)))
	enough := make(chan struct{}, 1)
	var running sync.WaitGroup
	for client := range upkeepClients {
		running.Go(func() {
			u.append(ctx, t, d, client, func() {
				if appends.Add(-1) == 0 {
					enough <- struct{}{}
				}
			})
		})
	}
	running.Go(func() { u.write(ctx, t, d, round) })
	made := make(chan string, 1)
	var before [upkeepClients]int64
	for client := range before {
		before[client] = u.acknowledged[client].Load()
	}
	running.Go(func() {
		defer close(made)
		file := filepath.Join(u.folder, fmt.Sprintf("%d.backup", round))
		cmd := exec.CommandContext(t.Context(), binary, "backup", file, "--addr", d.address,
			"--token-file", filepath.Join(os.Getenv("XDG_STATE_HOME"), "compactord", "token"))
		// It fails where the daemon is killed before its end.
		if cmd.Run() == nil {
			made <- file
		}
	})
	// One round in two is killed while the backup may still run.
	file := ""
	if round%2 == 0 {
		file = <-made
		require.NotEmpty(t, file, "the backup of a daemon that ran to its end")
	}
	<-enough
	u.addKey(t, fmt.Sprintf("k%d.hangup", round))
	require.NoError(t, d.process.Process.Signal(syscall.SIGHUP))
	<-d.log.reloaded
	// Most rotations are killed by that, some have ended.
	appends.Store(int64(1 + u.random.IntN(100)))
	<-enough
	d.end(t, syscall.SIGKILL)
	require.NotContains(t, d.log.String(), notTaken)
	if log := d.log.String(); strings.Count(log, rotationBegins) > strings.Count(log, rotationEnds) {
		u.killedRotations++
	}
	// Calls that wait for a connection end.
	stop()
	running.Wait()
	_ = d.conn.Close()
	if file == "" {
		file = <-made
	}
	if file != "" {
		u.requireBackup(t, file, before)
	}
}

// contentOf is message n of a client's session.
func contentOf(client, n int) string {
	return fmt.Sprintf("client %d, message %d %s", client, n, strings.Repeat("x", (client*31+n*17)%1500))
}

// gone reports an error of a call to a daemon that was killed.
func gone(ctx context.Context, err error) bool {
	return ctx.Err() != nil || status.Code(err) == codes.Unavailable || errors.Is(err, io.EOF)
}

func (u *upkeep) append(ctx context.Context, t *testing.T, d *killable, client int, appended func()) {
	t.Helper()
	sessions, id := compactordv1.NewSessionServiceClient(d.conn), fmt.Sprint("client-", client)
	_, err := sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{SessionId: id})
	if err != nil && status.Code(err) != codes.AlreadyExists {
		if !gone(ctx, err) {
			t.Errorf("create %s: %v", id, err)
		}
		return
	}
	for {
		n := int(u.acknowledged[client].Load())
		answer, err := sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{
			SessionId: id, Messages: []*compactordv1.Message{{
				Role: compactordv1.Role_ROLE_USER,
				Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_Text{
					Text: &compactordv1.TextPart{Text: contentOf(client, n)},
				}}},
			}},
		})
		if err != nil {
			if !gone(ctx, err) {
				t.Errorf("append to %s: %v", id, err)
			}
			return
		}
		if int(answer.GetNextIndex()) != n+1 {
			t.Errorf("%s: message %d got the index before %d", id, n, answer.GetNextIndex())
			return
		}
		u.acknowledged[client].Add(1)
		appended()
	}
}

// write writes brief sessions, and deletes every other one.
func (u *upkeep) write(ctx context.Context, t *testing.T, d *killable, round int) {
	t.Helper()
	sessions := compactordv1.NewSessionServiceClient(d.conn)
	for n := range upkeepBrief {
		id := fmt.Sprintf("brief-%d-%d", round, n)
		_, err := sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{SessionId: id})
		if err == nil {
			_, err = sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{
				SessionId: id, Messages: []*compactordv1.Message{{
					Role: compactordv1.Role_ROLE_USER,
					Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_Text{
						Text: &compactordv1.TextPart{Text: strings.Repeat(id+" ", 3000)},
					}}},
				}},
			})
		}
		if err == nil && n%2 == 0 {
			if _, err = sessions.DeleteSession(ctx, &compactordv1.DeleteSessionRequest{SessionId: id}); err == nil {
				u.mu.Lock()
				u.deleted = append(u.deleted, id)
				u.mu.Unlock()
			}
		}
		if err != nil {
			if !gone(ctx, err) {
				t.Errorf("%s: %v", id, err)
			}
			return
		}
	}
}

// requireLogs requires that the sessions of the clients have what was acknowledged, and no more than one message that was
// not, or those of a backup at least what was acknowledged before it. It notes what is there of a store that goes on.
func (u *upkeep) requireLogs(t *testing.T, d *killable, least [upkeepClients]int64, goesOn bool) {
	t.Helper()
	sessions := compactordv1.NewSessionServiceClient(d.conn)
	for client := range upkeepClients {
		most := u.acknowledged[client].Load() + 1
		if goesOn {
			least[client] = u.acknowledged[client].Load()
		}
		found, token := 0, ""
		for {
			answer, err := sessions.ListMessages(t.Context(), &compactordv1.ListMessagesRequest{
				SessionId: fmt.Sprint("client-", client), PageSize: 1000, PageToken: token,
			})
			if status.Code(err) == codes.NotFound && least[client] == 0 {
				break
			}
			require.NoError(t, err)
			for _, m := range answer.GetMessages() {
				require.Equal(t, contentOf(client, found), m.GetMessage().GetParts()[0].GetText().GetText())
				found++
			}
			if token = answer.GetNextPageToken(); token == "" {
				break
			}
		}
		require.GreaterOrEqual(t, int64(found), least[client], "client %d", client)
		require.LessOrEqual(t, int64(found), most, "client %d", client)
		if goesOn {
			u.acknowledged[client].Store(int64(found))
		}
	}
	if goesOn {
		for _, id := range u.deleted {
			_, err := sessions.GetSession(t.Context(), &compactordv1.GetSessionRequest{SessionId: id})
			require.Equal(t, codes.NotFound, status.Code(err), id)
		}
		u.deleted = nil
	}
}

// requireBackup requires that a backup is whole, and is the log at a point after it was begun.
func (u *upkeep) requireBackup(t *testing.T, file string, before [upkeepClients]int64) {
	t.Helper()
	restored := filepath.Join(u.folder, "restored.db")
	u.ran(t, "restore", file, "--store", restored, "--store-keys", u.keys)
	u.ran(t, "check", "--store", restored, "--store-keys", u.keys)
	d := u.serve(t, restored)
	u.requireLogs(t, d, before, false)
	d.end(t, syscall.SIGTERM)
	require.NoError(t, errors.Join(os.Remove(file), os.Remove(restored)))
	u.backups++
}

// defragment defragments the store. Most of these processes are killed, at a moment that nothing depends on.
func (u *upkeep) defragment(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+u.random.IntN(600))*time.Millisecond)
	defer cancel()
	u.defrags++
	if exec.CommandContext(ctx, binary, "defrag", "--store", u.store, "--store-keys", u.keys).Run() != nil {
		u.killedDefrags++
		require.Error(t, ctx.Err(), "a defragmentation that nobody killed has failed")
	}
}
