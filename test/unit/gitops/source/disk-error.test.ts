import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { test } from 'vitest'
import { diskError } from '#gitops/source/disk-error.ts'

function thrownBy(act: () => unknown): unknown {
  try {
    act()
  } catch (error) {
    return error
  }
  return undefined
}

test('a full disk is told from one that may not be used, and both from anything else', async () => {
  const full = thrownBy(() => writeFileSync('/dev/full', 'x'))
  const refused = thrownBy(() => readFileSync('/dev/null/x'))
  assert.equal(diskError(full)?.code, 'DiskFull')
  assert.equal(diskError(refused)?.code, 'Unreadable')
  const named = (name: string): string | undefined => {
    const message = `EROFS: read-only file system, open '/d/${name}'`
    return diskError(Object.assign(new Error(message), { code: 'EROFS', syscall: 'open' }))?.reason
  }
  assert.match(named('state.json.0123456789ab.tmp') ?? '', /'\/d\/state\.json'\. Make it writable/)
  assert.equal(named('tmp_obj_0123456789ab'), named('tmp_obj_ba9876543210'))
  assert.equal(diskError(new Error('a mistake')), undefined)
  // Port 1 of the loopback address has no listener.
  const socket = connect(1, '127.0.0.1')
  const failure = await new Promise((resolve) => socket.once('error', resolve))
  assert.equal((failure as NodeJS.ErrnoException).syscall, 'connect')
  assert.equal(diskError(failure), undefined)
})
