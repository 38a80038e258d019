package memory_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
	"github.com/compactord/compactord/storage/storagetest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func TestStore(t *testing.T) {
	storagetest.Run(t, storagetest.Backend{
		Open: func(*testing.T) storage.Store { return memory.NewShared() },
	})
}
