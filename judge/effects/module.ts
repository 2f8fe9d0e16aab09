// Names the module that says what commits do to answers, for another thread.

export const effectsModule = new URL('./commit-effects.ts', import.meta.url).href
