package access

import (
	"fmt"
	"strings"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectionv1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Role says what a token allows. A higher role includes the lower ones.
type Role int

// The roles, from the lowest. Everybody needs no token.
const (
	Everybody Role = iota
	// Read reads sessions, and whatever else changes nothing and costs nothing at a provider of models.
	Read
	// Write also changes sessions, and may have models write summaries.
	Write
	// Admin also does what cannot be taken back: it deletes sessions with their logs. And it copies the whole store.
	Admin
)

var roleNames = [...]string{Everybody: "everybody", Read: "read", Write: "write", Admin: "admin"}

// String returns the role's name.
func (r Role) String() string {
	if r < 0 || int(r) >= len(roleNames) {
		return fmt.Sprintf("Role(%d)", int(r))
	}
	return roleNames[r]
}

// ParseRole returns the role of a token by its name: read, write or admin.
func ParseRole(name string) (Role, error) {
	for r := Read; r <= Admin; r++ {
		if roleNames[r] == name {
			return r, nil
		}
	}
	return Everybody, fmt.Errorf("the role must be %s", strings.Join(roleNames[Read:], ", "))
}

// Roles has the role that each RPC needs, by its full name. An RPC that is missing needs Admin.
var Roles = map[string]Role{
	// Probes of orchestrators have no token. The answer says only whether the daemon serves.
	healthv1.Health_Check_FullMethodName: Everybody,
	healthv1.Health_Watch_FullMethodName: Everybody,
	healthv1.Health_List_FullMethodName:  Read,

	reflectionv1.ServerReflection_ServerReflectionInfo_FullMethodName:      Read,
	reflectionv1alpha.ServerReflection_ServerReflectionInfo_FullMethodName: Read,

	compactordv1.SessionService_GetSession_FullMethodName:          Read,
	compactordv1.SessionService_ListSessions_FullMethodName:        Read,
	compactordv1.SessionService_ListMessages_FullMethodName:        Read,
	compactordv1.SessionService_ListRecords_FullMethodName:         Read,
	compactordv1.SessionService_WatchSession_FullMethodName:        Read,
	compactordv1.SessionService_ListContextBlocks_FullMethodName:   Read,
	compactordv1.SessionService_RecallContent_FullMethodName:       Read,
	compactordv1.SessionService_SearchMessages_FullMethodName:      Read,
	compactordv1.CompactionService_GetLLMView_FullMethodName:       Read,
	compactordv1.CompactionService_PlanCompaction_FullMethodName:   Read,
	compactordv1.CompactionService_CountTokens_FullMethodName:      Read,
	compactordv1.CompactionService_ClassifyError_FullMethodName:    Read,
	compactordv1.CompactionService_ListStrategies_FullMethodName:   Read,
	compactordv1.SessionService_CreateSession_FullMethodName:       Write,
	compactordv1.SessionService_UpdateSession_FullMethodName:       Write,
	compactordv1.SessionService_ForkSession_FullMethodName:         Write,
	compactordv1.SessionService_EndChild_FullMethodName:            Write,
	compactordv1.SessionService_AppendMessages_FullMethodName:      Write,
	compactordv1.SessionService_SyncMessages_FullMethodName:        Write,
	compactordv1.SessionService_CreateCheckpoint_FullMethodName:    Write,
	compactordv1.SessionService_RevertToCheckpoint_FullMethodName:  Write,
	compactordv1.SessionService_ClearSession_FullMethodName:        Write,
	compactordv1.SessionService_PinMessages_FullMethodName:         Write,
	compactordv1.SessionService_UnpinMessages_FullMethodName:       Write,
	compactordv1.SessionService_UpdateContextBlocks_FullMethodName: Write,
	compactordv1.SessionService_ReplaceInstructions_FullMethodName: Write,
	compactordv1.CompactionService_Compact_FullMethodName:          Write,
	compactordv1.CompactionService_CancelCompaction_FullMethodName: Write,
	compactordv1.CompactionService_Prune_FullMethodName:            Write,
	compactordv1.CompactionService_CommitCompaction_FullMethodName: Write,

	compactordv1.SessionService_DeleteSession_FullMethodName: Admin,
	compactordv1.StoreService_ExportSession_FullMethodName:   Read,
	compactordv1.StoreService_Backup_FullMethodName:          Admin,
}

// needed returns the role that an RPC needs.
func needed(method string) Role {
	if role, known := Roles[method]; known {
		return role
	}
	return Admin
}
