"""A plugin of protoc that generates the `__init__.py` of the contract's package.

It gives every message and enum of the contract its short name: `compactord.v1.Session`, whatever file it is in.
"""

import sys
from pathlib import PurePosixPath

from google.protobuf.compiler import plugin_pb2

HEADER = '''"""The messages and enums of the contract by name, as protobuf generates them.

Generated from the contract. Do not edit.
"""
'''


def generate(request: plugin_pb2.CodeGeneratorRequest) -> plugin_pb2.CodeGeneratorResponse:
    """Generate the module that exports what all files of the request define."""
    wanted = set(request.file_to_generate)
    imports: list[str] = []
    names: list[str] = []
    for file in sorted(request.proto_file, key=lambda file: file.name):
        defined = sorted(
            [message.name for message in file.message_type] + [enum.name for enum in file.enum_type], key=str.lower
        )
        if file.name not in wanted or not defined:
            continue
        module = PurePosixPath(file.name).with_suffix("").as_posix().replace("/", ".") + "_pb2"
        imports.append(f"from {module} import (\n" + "".join(f"    {name},\n" for name in defined) + ")\n")
        names += defined
    exported = "__all__ = [\n" + "".join(f'    "{name}",\n' for name in sorted(names)) + "]\n"
    response = plugin_pb2.CodeGeneratorResponse(
        supported_features=plugin_pb2.CodeGeneratorResponse.FEATURE_PROTO3_OPTIONAL
    )
    folder = PurePosixPath(min(wanted)).parent
    response.file.add(name=f"{folder}/__init__.py", content=f"{HEADER}\n{''.join(imports)}\n{exported}")
    return response


if __name__ == "__main__":
    given = plugin_pb2.CodeGeneratorRequest.FromString(sys.stdin.buffer.read())
    sys.stdout.buffer.write(generate(given).SerializeToString())
