// A file as shared memory, the form in which a node holds a bundle.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

export function readShared(path: string): Uint8Array {
  const fd = openSync(path, 'r')
  const bytes = new Uint8Array(new SharedArrayBuffer(fstatSync(fd).size))
  for (let at = 0; at < bytes.length;) {
    at += readSync(fd, bytes, at, Math.min(1 << 30, bytes.length - at), at)
  }
  closeSync(fd)
  return bytes
}
