// Preloaded into a process: writes the address of each loaded module to a file. Threads without an
// environment write nothing.
import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const path = process.env['LOADED_MODULES'] ?? ''

registerHooks({
  load: (url, context, next) => {
    if (path !== '') appendFileSync(path, `${url}\n`)
    return next(url, context)
  },
})
