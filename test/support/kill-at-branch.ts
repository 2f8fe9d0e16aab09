// A preload for a writing process: kills it at one moment of moving its branch.
import fs, { existsSync, linkSync, renameSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const { searchParams } = new URL(import.meta.url)
const moment = searchParams.get('moment')
const armed = searchParams.get('armed') ?? ''

function dieAt(now: string): void {
  if (now !== moment || !existsSync(armed)) return
  process.kill(process.pid, 'SIGKILL')
  // Blocks until the signal arrives, so that nothing more is written.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

const [link, rename] = [linkSync, renameSync]
Object.assign(fs, {
  linkSync: (from: string, to: string) => {
    if (to.endsWith('main.lock')) dieAt('before the branch')
    link(from, to)
    if (to.endsWith('main.lock')) dieAt('locked')
  },
  renameSync: (from: string, to: string) => {
    rename(from, to)
    if (from.endsWith('main.lock')) dieAt('after the branch')
  },
})
syncBuiltinESMExports()
