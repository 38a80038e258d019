"""A plugin of protoc that generates gRPC's Python code.

grpcio-tools has that generator only within its own protoc, where buf cannot call it. This hands the request of a plugin
on to that protoc.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from google.protobuf.compiler import plugin_pb2
from google.protobuf.descriptor_pb2 import FileDescriptorSet


def generate(request: plugin_pb2.CodeGeneratorRequest) -> plugin_pb2.CodeGeneratorResponse:
    """Generate the code of all services of the request, whose other files would come out empty."""
    response = plugin_pb2.CodeGeneratorResponse(
        supported_features=plugin_pb2.CodeGeneratorResponse.FEATURE_PROTO3_OPTIONAL
    )
    wanted = set(request.file_to_generate)
    services = [file.name for file in request.proto_file if file.name in wanted and file.service]
    if not services:
        return response
    with tempfile.TemporaryDirectory() as temporary:
        image, out = Path(temporary, "image.binpb"), Path(temporary, "out")
        image.write_bytes(FileDescriptorSet(file=request.proto_file).SerializeToString())
        out.mkdir()
        command = [sys.executable, "-m", "grpc_tools.protoc"]
        command += [f"--descriptor_set_in={image}", f"--grpc_python_out={out}", *services]
        if subprocess.run(command, stdout=sys.stderr, check=False).returncode != 0:
            response.error = "protoc failed; what it says is above"
            return response
        for path in sorted(out.rglob("*.py")):
            response.file.add(name=path.relative_to(out).as_posix(), content=path.read_text(encoding="utf-8"))
    return response


if __name__ == "__main__":
    given = plugin_pb2.CodeGeneratorRequest.FromString(sys.stdin.buffer.read())
    sys.stdout.buffer.write(generate(given).SerializeToString())
