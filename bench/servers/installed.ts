// The program as packages have it, in a folder of its own, with a cache that nobody else fills.
import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { bundleProgram } from '#bin/bundle-program.ts'
import { writeDatabaseTemplate } from '#bin/database-template.ts'

export interface Installed {
  readonly gslbd: string
  /** Where V8 keeps what it has compiled. */
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
