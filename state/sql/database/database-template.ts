// An empty embedded database as one file shipped with the program, which the first start unpacks.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdir, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { constants, zstdCompressSync, zstdDecompress } from 'node:zlib'
import { flushDirectory } from '#lib/durable-file.ts'
import { pgliteFile } from './library-files.ts'
import { migrations } from './migrations.ts'

/** Beside the packaged program, or where a checkout builds it. */
const places = ['../../../database.zst', '../../../dist/database.zst'] as const
export const shippedTemplates = places.map((place) => join(import.meta.dirname, place))

/** Identifies schema and PostgreSQL: for others the file cannot be used. */
export function templateDigest(): string {
  const machine = readFileSync(pgliteFile('pglite.wasm'))
  return createHash('sha256').update(JSON.stringify(migrations)).update(machine).digest('hex')
}

/** The first line of the packed file. */
interface Head {
  readonly digest: string
  readonly folders: readonly string[]
  readonly files: readonly PackedFile[]
}

interface PackedFile {
  readonly path: string
  readonly bytes: number
  /** PostgreSQL preallocates its log in files of 16 MiB; their trailing zeros are not packed. */
  readonly packedBytes: number
}

/** @param directory a database that no process has open */
export function packDatabase(directory: string): Buffer {
  const folders: string[] = []
  const files: PackedFile[] = []
  const contents: Buffer[] = []
  for (const path of readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort()) {
    if (statSync(join(directory, path)).isDirectory()) folders.push(path)
    else if (path !== 'postmaster.pid') {
      const content = readFileSync(join(directory, path))
      const packedBytes = content.findLastIndex((octet) => octet !== 0) + 1
      files.push({ path, bytes: content.length, packedBytes })
      contents.push(content.subarray(0, packedBytes))
    }
  }
  const head: Head = { digest: templateDigest(), folders, files }
  const { ZSTD_c_checksumFlag, ZSTD_c_compressionLevel } = constants
  const params = { [ZSTD_c_checksumFlag]: 1, [ZSTD_c_compressionLevel]: 19 }
  return zstdCompressSync(Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...contents]), {
    params,
  })
}

const decompressed = promisify(zstdDecompress)
const templateBytesMax = 64 * 1024 * 1024

/** @returns undefined: the file is missing, damaged, or for another schema or PostgreSQL */
async function readTemplate(file: string) {
  try {
    const octets = await decompressed(await readFile(file), { maxOutputLength: templateBytesMax })
    const headBytes = octets.indexOf('\n') + 1
    const head = JSON.parse(octets.toString('utf8', 0, headBytes)) as Head
    return head.digest === templateDigest() ? { octets, headBytes, head } : undefined
  } catch {
    return undefined
  }
}

/**
 * Everything is flushed, so that the directory is a valid database even after a power cut.
 *
 * @param directory must not exist
 * @returns false: the file is missing, damaged, or for another schema or PostgreSQL
 * @throws the error of the file system that takes the files; the reason of `signal`
 */
export async function unpackTemplate(
  file: string,
  directory: string,
  signal: AbortSignal,
): Promise<boolean> {
  const template = await readTemplate(file)
  if (template === undefined) return false
  const { octets, headBytes, head } = template
  // The mode that initdb sets: accessible to the owner only.
  await mkdir(directory, { recursive: true, mode: 0o700 })
  // Folders come before their content.
  for (const folder of head.folders) await mkdir(join(directory, folder), { mode: 0o700 })
  let at = headBytes
  for (const { path, bytes, packedBytes } of head.files) {
    signal.throwIfAborted()
    const content = octets.subarray(at, (at += packedBytes))
    await write(join(directory, path), content, bytes)
  }
  for (const folder of ['', ...head.folders]) flushDirectory(join(directory, folder))
  return true
}

/** Writes zeros up to `bytes`: a hole would need room later, when the disk may be full. */
async function write(path: string, content: Buffer, bytes: number): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(content)
    if (content.length < bytes) await file.writeFile(Buffer.alloc(bytes - content.length))
    await file.sync()
  } finally {
    await file.close()
  }
}
