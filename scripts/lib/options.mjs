/** Options given as --name=value. */

/** @returns {string} */
export function option(name, fallback) {
  const given = process.argv.find((arg) => arg.startsWith(`--${name}=`));
  return given === undefined ? fallback : given.slice(name.length + 3);
}

/** The folder with plates, sprites and development pairs. @throws Error where none is given */
export function dataFolder() {
  const folder = option('data', process.env.SCENEDELTA_DATA);
  if (folder) return folder;
  throw new Error(
    'no data folder: expected --data=FOLDER or SCENEDELTA_DATA, the folder with plates, sprites and dev_pairs',
  );
}
