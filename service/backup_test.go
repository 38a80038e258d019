package service_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/tenant"
	"github.com/compactord/compactord/storage/backup"
)

// wholeOf returns the pieces of a backup together.
func wholeOf(stream grpc.ServerStreamingClient[compactordv1.BackupResponse]) ([]byte, error) {
	var all []byte
	for {
		piece, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, piece.GetContent()...)
	}
}

// A backup has the sessions of all tenants, so that a token of one does not open it.
func TestBackupIsNotForTenants(t *testing.T) {
	t.Parallel()
	store := openStore(t, filepath.Join(t.TempDir(), "store.db"))
	d := startTenants(t, []string{tenant.Default, "a"}, withStore(store))
	for _, name := range []string{tenant.Default, "a"} {
		_, err := d.sessions.CreateSession(d.as(t.Context(), name), &compactordv1.CreateSessionRequest{SessionId: "s"})
		require.NoError(t, err)
	}
	stores := compactordv1.NewStoreServiceClient(d.conn)
	begin := func(name string) ([]byte, error) {
		stream, err := stores.Backup(d.as(t.Context(), name), &compactordv1.BackupRequest{})
		require.NoError(t, err)
		return wholeOf(stream)
	}
	_, err := begin("a")
	requireReason(t, err, codes.PermissionDenied, "PERMISSION_DENIED")
	content, err := begin(tenant.Default)
	require.NoError(t, err)
	held, err := backup.Read(bytes.NewReader(content), io.Discard)
	require.NoError(t, err)
	require.Equal(t, 2, held.Sessions)
}

// One backup runs at a time: the second is refused while the client of the first reads nothing, and not after that has left.
func TestOneBackupAtATime(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	d := startTenants(t, []string{tenant.Default}, withStore(openStore(t, path)))
	stores := compactordv1.NewStoreServiceClient(d.conn)
	_, err := d.sessions.CreateSession(d.as(t.Context(), tenant.Default), &compactordv1.CreateSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	for range 40 {
		_, err := d.sessions.AppendMessages(d.as(t.Context(), tenant.Default), &compactordv1.AppendMessagesRequest{
			SessionId: "s", Messages: []*compactordv1.Message{user(strings.Repeat("x", 1<<20))},
		})
		require.NoError(t, err)
	}
	ctx, leave := context.WithCancel(d.as(t.Context(), tenant.Default))
	first, err := stores.Backup(ctx, &compactordv1.BackupRequest{})
	require.NoError(t, err)
	_, err = first.Recv()
	require.NoError(t, err)
	begin := func() error {
		stream, err := stores.Backup(d.as(t.Context(), tenant.Default), &compactordv1.BackupRequest{})
		require.NoError(t, err)
		_, err = wholeOf(stream)
		return err
	}
	require.Equal(t, "backups", requireReason(t, begin(), codes.ResourceExhausted, "TOO_MANY_WAITING").GetMetadata()["pool"])
	leave()
	for {
		if err := begin(); err == nil {
			break
		}
	}
	left, err := filepath.Glob(path + ".snapshot-*")
	require.NoError(t, err)
	require.Empty(t, left)
}

// A store in memory has no file to copy.
func TestBackupOfAStoreInMemory(t *testing.T) {
	t.Parallel()
	d := startTenants(t, []string{tenant.Default})
	stream, err := compactordv1.NewStoreServiceClient(d.conn).Backup(d.as(t.Context(), tenant.Default), &compactordv1.BackupRequest{})
	require.NoError(t, err)
	_, err = wholeOf(stream)
	requireReason(t, err, codes.Unimplemented, "NOT_IMPLEMENTED")
}
