// Reads the records of a query log, a part of the file at a time, for printing and for replay.
import { closeSync, openSync, readSync } from 'node:fs'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { readDnstap } from '#answer/query-log/dnstap-reader.ts'
import type { ReadRecord } from '#answer/query-log/dnstap-reader.ts'
import { ControlType, FrameReader, takesDnstap } from '#answer/query-log/frame-stream.ts'
import type { Frame } from '#answer/query-log/frame-stream.ts'

const partBytes = 64 * 1024

/** @yields the records in order; an error, a sentence, comes last */
export function* readQueryLog(
  path: string,
): Generator<Result<ReadRecord, string>, void, undefined> {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    return yield err(`${path}: ${whyUnreadable(error)}`)
  }
  try {
    for (const record of recordsOf(partsOf(file))) {
      yield record.ok ? record : err(`${path}: ${record.error}`)
    }
  } catch (error) {
    yield err(`${path}: ${whyUnreadable(error)}`)
  } finally {
    closeSync(file)
  }
}

function* partsOf(file: number): Generator<Uint8Array, void, undefined> {
  const part = Buffer.alloc(partBytes)
  for (let bytes = -1; bytes !== 0;) {
    bytes = readSync(file, part, 0, partBytes, null)
    yield part.subarray(0, bytes)
  }
}

/** @param parts octets of a file of Frame Streams, split anywhere */
export function* recordsOf(
  parts: Iterable<Uint8Array>,
): Generator<Result<ReadRecord, string>, void, undefined> {
  const reader = new FrameReader()
  let count = 0
  let state: 'new' | 'started' | 'stopped' = 'new'
  for (const part of parts) {
    const frames = reader.push(part)
    if (!frames.ok) return yield err(`behind record ${count}: ${frames.error}`)
    for (const frame of frames.value) {
      if (state === 'stopped') return yield err('something follows the end of the stream')
      if (state === 'new') {
        if (!isStart(frame)) return yield err('this is no file of dnstap records')
        state = 'started'
      } else if (frame.kind === 'control') {
        if (frame.type !== ControlType.Stop) return yield err('a control frame in the middle')
        state = 'stopped'
      } else {
        const record = readDnstap(frame.octets)
        if (record === undefined) return yield err(`record ${count + 1} is no dnstap record`)
        count++
        yield ok(record)
      }
    }
  }
  if (state === 'new') yield err('this is no file of dnstap records')
  else if (reader.restBytes > 0) yield err(`the file is cut short behind record ${count}`)
}

const isStart = (frame: Frame): boolean =>
  frame.kind === 'control' && frame.type === ControlType.Start && takesDnstap(frame)

function whyUnreadable(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return unreadable[code ?? ''] ?? `it cannot be read: ${message}`
}

const unreadable: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file; queryLog.file in the settings says where it is',
  EACCES: 'this user may not read it',
  EISDIR: 'this is a directory; name a file in it',
}
