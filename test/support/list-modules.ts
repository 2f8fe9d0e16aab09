// Preloaded by a process whose modules a test wants to know: writes the address of each to a file.
// Threads that get no environment write nothing.
import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const path = process.env['LOADED_MODULES'] ?? ''

registerHooks({
  load: (url, context, next) => {
    if (path !== '') appendFileSync(path, `${url}\n`)
    return next(url, context)
  },
})
