// The packaged program in its own folder, with its own compile cache.
import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { bundleProgram } from '#bin/bundle-program.ts'
import { writeDatabaseTemplate } from '#bin/database-template.ts'

export interface Installed {
  readonly gslbd: string
  /** Folder of V8's compile cache. */
  readonly env: Readonly<Record<string, string>>
}

const root = join(import.meta.dirname, '../..')

export async function installProgram(folder: string): Promise<Installed> {
  mkdirSync(join(folder, 'bin'), { recursive: true })
  await bundleProgram(join(folder, 'dist'))
  await writeDatabaseTemplate(join(folder, 'dist/database.zst'))
  for (const file of ['bin/gslbd', 'package.json']) {
    copyFileSync(join(root, file), join(folder, file))
  }
  copyFileSync(join(root, 'package.json'), join(folder, 'dist/package.json'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return {
    gslbd: join(folder, 'bin/gslbd'),
    env: { NODE_COMPILE_CACHE: join(folder, 'cache') },
  }
}
