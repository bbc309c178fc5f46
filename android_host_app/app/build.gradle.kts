// For Android Studio. Not run by us: tools/build-host-app is what makes the APK.
plugins {
    id("com.android.application") version "8.13.0"
}

android {
    namespace = "dev.webviewbridge.host"
    compileSdk = 36
    defaultConfig {
        applicationId = "dev.webviewbridge.host"
        minSdk = 26
        targetSdk = 36
        val version = Regex("""__version__ = "(\d+)\.(\d+)\.(\d+)""")
            .find(rootDir.resolve("../bridge/__init__.py").readText())!!.destructured
        val (major, minor, patch) = version
        versionName = "$major.$minor.$patch"
        versionCode = maxOf(1, major.toInt() * 10_000 + minor.toInt() * 100 + patch.toInt())
    }
    compileOptions {
        sourceCompatibility = JavaVersion.VERSION_1_8
        targetCompatibility = JavaVersion.VERSION_1_8
    }
    dependenciesInfo { includeInApk = false }
}

dependencies {
    testImplementation("junit:junit:4.13.2")
    testImplementation("org.robolectric:robolectric:4.16")
}
