// file: target groups in a file, as the `file_sd` of Prometheus.
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { err, ok } from '#lib/result.ts'
import { parseJson } from '#lib/text/json.ts'
import type { DiscoveryKind } from '#integrations/targets/kind.ts'
import { discoveryLimits } from '#integrations/targets/limits.ts'
import { targetsOfGroups } from '#integrations/targets/target-groups.ts'

/** Its time of change and size are the cursor, so that a file that stays is not read again. */
export const file: DiscoveryKind = {
  name: 'file',
  needs: ['path'],
  service: 'none',
  isCheap: true,
  create: ({ path }) => {
    // The fault stays as long as the file does.
    let wrong = { mark: '', why: '' }
    return async ({ cursor }) => {
      let text: string
      let mark: string
      try {
        // A pipe in its place would block a thread of the process until somebody writes.
        const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
        try {
          const stat = await handle.stat()
          if (!stat.isFile()) return err(`${path} is no file`)
          const { mtimeMs, size, ino } = stat
          mark = `${mtimeMs} ${size} ${ino}`
          if (mark === cursor) return ok({ targets: null, cursor })
          if (mark === wrong.mark) return err(wrong.why)
          if (size > discoveryLimits.bytesMax) {
            return err(`${path} has more than ${discoveryLimits.bytesMax} octets`)
          }
          text = await handle.readFile('utf8')
        } finally {
          await handle.close()
        }
      } catch (error) {
        return err(`${path} cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'failed'}`)
      }
      const json = parseJson(text)
      const targets = json === undefined ? undefined : targetsOfGroups(json)
      if (targets?.ok === true) return ok({ targets: targets.value, cursor: mark })
      wrong = {
        mark,
        why: targets === undefined ? `${path} is no JSON` : `${path}: ${targets.error}`,
      }
      return err(wrong.why)
    }
  },
}
